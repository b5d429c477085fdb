#pragma once
// Memory of the host's pool for a kernel map's keys and pairs.

#include <cstdint>
#include <utility>

#include "hk/error.h"
#include "memory/pool.h"

namespace hk::detail {

// Elements that are not initialised.
template<typename T>
class Array {
public:
    Array() = default;
    // Throws OutOfMemory.
    explicit Array(int64_t size)
        : block_(host_pool().allocate(static_cast<size_t>(size) * sizeof(T),
                                      memory_label() ? memory_label() : "kernel_map")),
          size_(size) {
        if (!block_) throw OutOfMemory(host_pool().shortage(static_cast<size_t>(size) * sizeof(T)));
    }
    ~Array() { host_pool().free(block_); }
    Array(Array &&other) noexcept { swap(other); }
    Array &operator=(Array &&other) noexcept {
        swap(other);
        return *this;
    }

    int64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T *begin() const { return block_ ? reinterpret_cast<T *>(block_->memory) : nullptr; }
    T *end() const { return begin() + size_; }
    T &operator[](int64_t i) const { return begin()[i]; }
    void shrink(int64_t size) { size_ = size; }
    void swap(Array &other) noexcept {
        std::swap(block_, other.block_);
        std::swap(size_, other.size_);
    }

private:
    Block *block_ = nullptr;
    int64_t size_ = 0;
};

}  // namespace hk::detail
