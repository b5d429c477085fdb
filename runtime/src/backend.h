#pragma once
// What tensors and calls need from one kind of device. Both implementations load their driver when
// they are first used, so that nothing depends on a driver being installed.

#include <memory>
#include <string>

#include "hk/device.h"
#include "hk/memory.h"

namespace hk::detail {

// Rows of bytes in one piece of memory. `memory` is a host pointer, a CUdeviceptr or a cl_mem.
struct Rows {
    void *memory = nullptr;
    int64_t offset = 0, pitch = 0;  // of the first row; from row to row, at least `width`
    bool host = false;
};

// A point in a queue's work; null: passed. The last copy ends the driver's object.
using Event = std::shared_ptr<void>;

class Backend {
public:
    virtual ~Backend() = default;

    // Why there is no device at all, or the number of devices.
    virtual int count() = 0;
    virtual std::string missing() = 0;

    virtual DeviceLimits limits(int index) = 0;
    virtual std::string description(int index) = 0;

    // Memory of a caller's context; of the library's own where that is null. Without `pieces` for
    // single blocks. Throws DeviceError.
    virtual std::unique_ptr<MemoryUpstream> upstream(int index, void *context, bool pieces) = 0;

    // Queues a copy of `rows` rows of `width` bytes, at least one of them on the device.
    virtual void copy(int index, const Rows &to, const Rows &from, int64_t width, int64_t rows) = 0;
    // Queues zeros for `rows` rows of `width` bytes, on a completed stream; {}: where copies are.
    virtual void fill_zero(int index, const Rows &to, int64_t width, int64_t rows,
                           const Stream &stream) = 0;
    // Waits for the copies and fills that touched `memory`; null: for the library's own queue.
    virtual void wait(int index, void *memory) = 0;

    // Completes a caller's stream with the library's own handles and checks it. Throws
    // InvalidArgument, naming `operation`, for handles that don't belong together.
    virtual Stream resolve(const char *operation, int index, const Stream &stream) = 0;

    // Whether work on a completed stream can use the memory.
    virtual bool reachable(void *memory, const Stream &stream) = 0;

    // Whether a kernel can start at this byte of the memory, and reach back from it.
    virtual bool addressable(int index, int64_t offset, int64_t reach_back) = 0;
    virtual std::string addressing(int index) = 0;  // the rule in words

    // The library's own queue. Throws DeviceError.
    virtual Stream own_stream(int index) = 0;

    // Marks the end of what is queued on a completed stream. Where that fails it waits for the work
    // instead, and the event is null.
    virtual Event mark(int index, const Stream &stream) noexcept = 0;
    virtual bool passed(const Event &event) noexcept = 0;
    // What is queued on the stream from now on comes after the event.
    virtual void make_wait(int index, const Stream &stream, const Event &event) = 0;
    virtual void wait(const Event &event) noexcept = 0;

    // Unloads the library's code from a caller's context.
    virtual void forget(int index, void *context) = 0;
};

// Null for the CPU.
Backend *backend(DeviceType type) noexcept;

// The device's backend; throws DeviceError where the device is not there.
Backend &require(Device device);

}  // namespace hk::detail
