#include "memory/halide_memory.h"

#include <cstring>
#include <unordered_map>

#include "HalideRuntime.h"
#include "cuda_backend.h"
#include "immortal.h"
#include "memory/pool.h"
#include "opencl_driver.h"

namespace hk::detail {

namespace {

using Pool = MemoryPool::Impl;

thread_local const CallContext *allocating = nullptr;

// Blocks by what Halide's runtime knows them by.
class Handles {
public:
    void insert(void *memory, Pool &pool, Block *block) {
        const std::lock_guard lock(mutex_);
        entries_.insert_or_assign(memory, Entry{&pool, block, 1});
    }

    // Whether it is one of ours.
    bool retain(void *memory) {
        const std::lock_guard lock(mutex_);
        const auto entry = entries_.find(memory);
        if (entry == entries_.end()) return false;
        entry->second.references++;
        return true;
    }

    // The same; the last reference frees the block, after what the call has queued.
    bool release(void *memory) {
        Entry entry;
        {
            const std::lock_guard lock(mutex_);
            const auto found = entries_.find(memory);
            if (found == entries_.end()) return false;
            if (--found->second.references > 0) return true;
            entry = found->second;
            entries_.erase(found);
        }
        const Device device = entry.pool->device();
        Backend &backend = *detail::backend(device.type());
        if (allocating && allocating->stream != backend.own_stream(device.index())) {
            const Stream &stream = allocating->stream;
            entry.pool->add_use(*entry.block, stream, backend.mark(device.index(), stream));
        }
        entry.pool->free(entry.block);
        return true;
    }

private:
    struct Entry {
        Pool *pool = nullptr;
        Block *block = nullptr;
        int references = 0;
    };

    std::mutex mutex_;
    std::unordered_map<void *, Entry> entries_;
};

Handles &handles() {
    static Immortal<Handles> handles;
    return *handles;
}

// Null where there is no memory left, which is told to the call.
void *allocate(Device device, size_t bytes) {
    const CallContext *call = allocating;
    if (call) device = call->device;
    const Stream stream = call ? call->stream : backend(device.type())->own_stream(device.index());
    Pool &pool = memory_pool(device, stream.context);
    Block *block = pool.allocate(bytes, call ? call->label : memory_label(), &stream);
    if (!block) {
        halide_error(const_cast<CallContext *>(call), pool.shortage(bytes).c_str());
        return nullptr;
    }
    try {
        pool.order(*block, stream);
        handles().insert(block->memory, pool, block);
        return block->memory;
    } catch (...) {
        pool.free(block);
        throw;
    }
}

constexpr int kCudaOutOfMemory = 2, kCudaUnknownError = 999;

int allocate_cuda(uint64_t *address, size_t bytes) try {
    void *memory = allocate(Device::cuda(), bytes);
    *address = reinterpret_cast<uint64_t>(memory);
    return memory ? 0 : kCudaOutOfMemory;
} catch (const std::bad_alloc &) {
    return kCudaOutOfMemory;
} catch (const std::exception &error) {
    halide_error(const_cast<CallContext *>(allocating), error.what());
    return kCudaUnknownError;
}

int free_cuda(uint64_t address) try {
    using Free = int (*)(uint64_t);
    if (handles().release(reinterpret_cast<void *>(address))) return 0;
    static const auto free = reinterpret_cast<Free>(cuda_symbol("cuMemFree_v2"));
    return free(address);
} catch (const std::exception &) {
    return kCudaUnknownError;
}

cl_mem allocate_opencl(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                       cl_int *status) try {
    static const auto create =
        reinterpret_cast<decltype(&clCreateBuffer)>(opencl_symbol("clCreateBuffer"));
    if (host || flags != CL_MEM_READ_WRITE) return create(context, flags, bytes, host, status);
    void *memory = allocate(Device::opencl(), bytes);
    if (status) *status = memory ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return static_cast<cl_mem>(memory);
} catch (const std::bad_alloc &) {
    if (status) *status = CL_OUT_OF_HOST_MEMORY;
    return nullptr;
} catch (const std::exception &error) {
    halide_error(const_cast<CallContext *>(allocating), error.what());
    if (status) *status = CL_OUT_OF_HOST_MEMORY;
    return nullptr;
}

// Crops of a buffer share it.
cl_int retain_opencl(cl_mem memory) {
    static const auto retain =
        reinterpret_cast<decltype(&clRetainMemObject)>(opencl_symbol("clRetainMemObject"));
    return handles().retain(memory) ? CL_SUCCESS : retain(memory);
}

cl_int release_opencl(cl_mem memory) try {
    static const auto release =
        reinterpret_cast<decltype(&clReleaseMemObject)>(opencl_symbol("clReleaseMemObject"));
    return handles().release(memory) ? CL_SUCCESS : release(memory);
} catch (const std::exception &) {
    return CL_OUT_OF_HOST_MEMORY;
}

template<typename F>
void *address_of(F *function) {
    return reinterpret_cast<void *>(function);
}

}  // namespace

void set_allocating_call(const CallContext *call) noexcept { allocating = call; }

void *cuda_memory_function(const char *name) noexcept {
    if (std::strcmp(name, "cuMemAlloc_v2") == 0) return address_of(&allocate_cuda);
    if (std::strcmp(name, "cuMemFree_v2") == 0) return address_of(&free_cuda);
    return nullptr;
}

void *opencl_memory_function(const char *name) noexcept {
    if (std::strcmp(name, "clCreateBuffer") == 0) return address_of(&allocate_opencl);
    if (std::strcmp(name, "clRetainMemObject") == 0) return address_of(&retain_opencl);
    if (std::strcmp(name, "clReleaseMemObject") == 0) return address_of(&release_opencl);
    return nullptr;
}

}  // namespace hk::detail
