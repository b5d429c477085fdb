#pragma once
// Packed s32 in memory of a device, for kernels of one stream.

#include <array>

#include "HalideRuntime.h"
#include "call_context.h"
#include "hk/kernel_info.h"

namespace hk::detail {

// Whose kernels may read an array: it may go, and its memory be used again, in the order of this
// stream.
struct StreamKey {
    explicit StreamKey(const CallContext &context)
        : device(context.device), context(context.stream.context), handle(context.stream.handle) {}

    bool operator==(const StreamKey &) const = default;

    Device device;
    const void *context, *handle;
};

// It comes from the pool of the context (memory/halide_memory.h), and may go while kernels that use
// it are only queued; the stream must be there then.
class DeviceArray {
public:
    // Copies from the host, and waits for the copy. Extents innermost first, 1 or 2. `operation`
    // and `kernel` are named in messages. Throws OutOfMemory, DeviceError.
    DeviceArray(const char *operation, const KernelInfo &kernel, const CallContext &context,
                const int32_t *host, int64_t inner, int64_t outer = 0);
    ~DeviceArray();
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    // For one call; it borrows the memory.
    halide_buffer_t view() const { return buffer_; }
    size_t bytes() const { return buffer_.size_in_bytes(); }

private:
    CallContext context_;  // its own: it may outlive the call
    halide_buffer_t buffer_{};
    std::array<halide_dimension_t, 2> dims_{};
};

}  // namespace hk::detail
