// Devices and contexts.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "software_cuda/driver/interface.h"
#include "software_cuda/driver/scheduler.h"
#include "software_cuda/machine/chips.h"
#include "software_cuda/machine/memory.h"

namespace software_cuda {

class Context;

struct Device {
    Device(int ordinal, const Chip &chip, uint64_t memory_bytes)
        : ordinal(ordinal), chip(chip), memory(memory_bytes) {}

    const int ordinal;
    const Chip &chip;
    Memory memory;

    // Made anew when it is retained after its last release or a reset.
    std::mutex mutex;
    Context *primary = nullptr;
    unsigned primary_uses = 0, primary_flags = 0;
};

// Is never deleted, so that threads may find theirs destroyed.
class Context {
public:
    Context(Device &device, unsigned flags, bool primary);

    Device &device;
    const unsigned flags;
    const bool primary;
    const std::shared_ptr<Stream> default_stream;

    // The default stream of the calling thread.
    std::shared_ptr<Stream> stream_of_thread();

    // What work in it failed with. It stays so: the context is of no use any more.
    Status error() const { return error_; }
    void fail(Status status);

    bool destroyed() const { return destroyed_; }
    // Waits for its work, and ends all that is in it. Tells what memory was not freed.
    void destroy();

    void own(CUdeviceptr allocation, size_t bytes);
    bool disown(CUdeviceptr allocation);
    bool owns(CUdeviceptr allocation) const;

private:
    std::atomic<Status> error_ = CUDA_SUCCESS;
    std::atomic<bool> destroyed_ = false;
    mutable std::mutex mutex_;
    std::map<CUdeviceptr, size_t> allocations_;
    std::map<std::thread::id, std::shared_ptr<Stream>> of_threads_;
};

// The calling thread's stack of contexts.
void push_context(Context *context);
Context *pop_context();  // null where there is none
void set_context(Context *context);
Context *top_context();

// The current context. Throws Failure where there is none, it is destroyed, or work in it failed.
Context &current_context();
// The same for a context in which work may have failed.
Context &current_context_even_failed();

}  // namespace software_cuda
