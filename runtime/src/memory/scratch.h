#pragma once
// Memory of the host's pool for one call.

#include "memory/pool.h"

namespace hk::detail {

// Null where there is none left.
class Scratch {
public:
    explicit Scratch(size_t bytes)
        : block_(host_pool().allocate(bytes, memory_label() ? memory_label() : "scratch")) {}
    ~Scratch() { host_pool().free(block_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    template<typename T>
    T *as() const {
        return block_ ? reinterpret_cast<T *>(block_->memory) : nullptr;
    }

private:
    Block *block_;
};

}  // namespace hk::detail
