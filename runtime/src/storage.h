#pragma once
// What tensors share: a block of a pool, or memory of somebody else and what to do when its last
// tensor goes.

#include <functional>

#include "backend.h"
#include "hk/tensor.h"
#include "memory/pool.h"

namespace hk {

class Tensor::Storage {
public:
    Storage(Device device, void *memory, std::function<void()> release)
        : device(device), memory(memory), release_(std::move(release)) {}
    Storage(MemoryPool::Impl &pool, detail::Block *block)
        : device(pool.device()), memory(block->memory), pool_(&pool), block_(block) {}
    ~Storage() {
        if (block_) pool_->free(block_);
        if (release_) release_();
    }
    Storage(const Storage &) = delete;
    Storage &operator=(const Storage &) = delete;

    // Throws OutOfMemory, and DeviceError where the device is not there.
    static std::shared_ptr<Storage> allocate(Device device, int64_t bytes);

    // What is put on the queue, a completed stream, comes after work of the memory's earlier
    // owners.
    void order(const Stream &stream) const {
        if (block_) pool_->order(*block_, stream);
    }

    // The same for the library's own queue: before the memory is shown to code of others.
    void order_own_queue() const {
        if (block_ && !device.is_cpu()) order(detail::require(device).own_stream(device.index()));
    }

    // Work up to the event uses the memory; it is on another queue than the library's own.
    void add_use(const Stream &stream, const detail::Event &event) const noexcept {
        if (block_) pool_->add_use(*block_, stream, event);
    }

    const Device device;
    void *const memory;  // a host pointer, a CUdeviceptr or a cl_mem

private:
    MemoryPool::Impl *const pool_ = nullptr;
    detail::Block *const block_ = nullptr;
    std::function<void()> release_;
};

// What the library itself may do with a tensor.
struct Tensor::Access {
    static const Storage &storage(const Tensor &tensor) { return *tensor.storage_; }
    static const std::shared_ptr<Storage> &shared(const Tensor &tensor) { return tensor.storage_; }
    static Tensor make(std::shared_ptr<Storage> storage, DataType type, Shape shape, Shape strides,
                       int64_t offset = 0);
    // Tensor::borrow, in messages of `operation`.
    static Tensor over(const char *operation, void *data, DataType type, Shape shape, Shape strides,
                       Device device);
    // Bytes from the start of the storage.
    static int64_t byte_offset(const Tensor &tensor) {
        return tensor.offset_ * size_of(tensor.type_);
    }
};

}  // namespace hk
