#pragma once
// What tensors and calls need from one kind of device. Both implementations load their driver when
// they are first used, so that nothing depends on a driver being installed.

#include <memory>
#include <string>

#include "hk/device.h"

namespace hk::detail {

// Rows of bytes in one piece of memory. `memory` is a host pointer, a CUdeviceptr or a cl_mem.
struct Rows {
    void *memory = nullptr;
    int64_t offset = 0, pitch = 0;  // of the first row; from row to row, at least `width`
    bool host = false;
};

class Backend {
public:
    virtual ~Backend() = default;

    // Why there is no device at all, or the number of devices.
    virtual int count() noexcept = 0;
    virtual std::string missing() = 0;

    virtual DeviceLimits limits(int index) = 0;
    virtual std::string description(int index) = 0;

    // Throws OutOfMemory or DeviceError.
    virtual void *allocate(int index, int64_t bytes) = 0;
    virtual void release(int index, void *memory) noexcept = 0;

    // Queues a copy of `rows` rows of `width` bytes, at least one of them on the device.
    virtual void copy(int index, const Rows &to, const Rows &from, int64_t width, int64_t rows) = 0;
    virtual void fill_zero(int index, void *memory, int64_t offset, int64_t bytes) = 0;
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

    // Unloads the library's code from a caller's context.
    virtual void forget(int index, void *context) = 0;
};

// Null for the CPU.
Backend *backend(DeviceType type) noexcept;

// The device's backend; throws DeviceError where the device is not there.
Backend &require(Device device);

}  // namespace hk::detail
