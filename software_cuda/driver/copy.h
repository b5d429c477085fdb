// Copies between host and device, of any shape.
#pragma once

#include "software_cuda/driver/driver.h"

namespace software_cuda {

// Where rows of bytes lie: of host memory where there is no device.
struct Rows {
    Device *device = nullptr;
    uint64_t address = 0;
    size_t pitch = 0, plane = 0;  // bytes from row to row, and from plane to plane

    bool pageable = false;  // host memory that is not of cuMemAllocHost
};

struct Copy {
    Rows to, from;
    size_t width = 0, rows = 1, planes = 1;

    bool empty() const { return width == 0 || rows == 0 || planes == 0; }
};

// The memory that an address belongs to, the host's where no device has it.
Rows rows_at(const void *host_or_device);
// Throws Failure unless these bytes are inside one allocation of a device.
Rows device_rows(CUdeviceptr address);

// Throws Failure for what is outside of a device's allocation.
void check(const Copy &copy);
// Queues a checked copy. Returns when it is done, if `wait`; when the host's memory has been read
// or written, if that is pageable.
void queue(const Copy &copy, const std::shared_ptr<Stream> &stream, bool wait);

// Memory of cuMemAllocHost.
class PinnedMemory {
public:
    void *allocate(size_t bytes);
    bool release(void *memory);
    bool contains(const void *address) const;

private:
    mutable std::mutex mutex_;
    std::map<uint64_t, size_t> blocks_;
};
PinnedMemory &pinned_memory();

}  // namespace software_cuda
