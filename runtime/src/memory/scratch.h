#pragma once
// Memory of the host's pool for one call.

#include "hk/error.h"
#include "memory/pool.h"

namespace hk::detail {

class Scratch {
public:
    explicit Scratch(size_t bytes)
        : bytes_(bytes),
          block_(host_pool().allocate(bytes, memory_label() ? memory_label() : "scratch")) {}
    ~Scratch() { host_pool().free(block_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    // Null where there is no memory left.
    template<typename T>
    T *as() const {
        return block_ ? reinterpret_cast<T *>(block_->memory) : nullptr;
    }

    // Throws OutOfMemory instead.
    template<typename T>
    T *required_as(const char *operation) const {
        if (!block_) {
            throw OutOfMemory(std::string(operation) + ": " + host_pool().shortage(bytes_));
        }
        return as<T>();
    }

private:
    size_t bytes_;
    Block *block_;
};

}  // namespace hk::detail
