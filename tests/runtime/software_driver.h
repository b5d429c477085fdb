#pragma once
// CUDA's host side against the driver of the software device (software_cuda): launches are checked
// and noted, but not run, and each function fails on demand.
//
// Programs with it run with the library's memory pools off (HK_MEMORY_POOL), so that each block is
// an allocation of the driver's; a test may switch them on.
//
// cuda:0 allows 48 KiB of shared memory a block and no more; cuda:1 and cuda:2 have the limits of
// compute capability 9.0.

#include <string>
#include <vector>

#include "hk/device.h"
#include "software_cuda/control.h"

namespace hk::tests {

inline const Device kCuda = Device::cuda(1);

const SoftwareCudaControl &driver();

// From here on nothing fails, and calls and operations are noted anew.
void begin_driver_test();

// All calls of a function (without _v2) return this CUresult.
void fail(const char *function, int status);

// Operations of a function since the last clear().
using Operation = SoftwareCudaOperation;
std::vector<Operation> operations(const std::string &function);
std::vector<Operation> launches();

size_t allocated();  // pieces of memory
void *primary_context(Device device = kCuda);
bool has_current_context();

// A context and a stream of the caller's own, of which the library keeps nothing at the end.
class Queue {
public:
    explicit Queue(Device device = kCuda);
    ~Queue();
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    void *context() const { return context_; }
    void *handle() const { return handle_; }
    Stream stream() const { return {context_, handle_}; }

private:
    const Device device_;
    void *context_ = nullptr, *handle_ = nullptr;
};

}  // namespace hk::tests
