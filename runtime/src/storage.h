#pragma once
// What tensors share: a piece of memory and what to do when its last tensor goes.

#include <functional>

#include "backend.h"
#include "hk/tensor.h"

namespace hk {

class Tensor::Storage {
public:
    Storage(Device device, void *memory, std::function<void()> release)
        : device(device), memory(memory), release_(std::move(release)) {}
    ~Storage() {
        if (release_) release_();
    }
    Storage(const Storage &) = delete;
    Storage &operator=(const Storage &) = delete;

    static std::shared_ptr<Storage> allocate(Device device, int64_t bytes);

    const Device device;
    void *const memory;  // a host pointer, a CUdeviceptr or a cl_mem

private:
    std::function<void()> release_;
};

// What the library itself may do with a tensor.
struct Tensor::Access {
    static const Storage &storage(const Tensor &tensor) { return *tensor.storage_; }
    static const std::shared_ptr<Storage> &shared(const Tensor &tensor) { return tensor.storage_; }
    static Tensor make(std::shared_ptr<Storage> storage, DataType type, Shape shape, Shape strides,
                       int64_t offset = 0);
    // Bytes from the start of the storage.
    static int64_t byte_offset(const Tensor &tensor) {
        return tensor.offset_ * size_of(tensor.type_);
    }
};

}  // namespace hk
