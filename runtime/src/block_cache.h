#pragma once
// Blocks of memory for Halide's runtime, which asks for scratch space in every call of a kernel.
//
// Freed blocks are kept, up to kCacheBytes, and handed out again. Without that each call maps fresh
// pages: a 1 MB block costs 256 page faults, about 60 us, more than many of the convolutions that
// need it. Rejected: a cache a thread, because Halide's worker threads free what others allocated.
//
// Sizes are rounded up to four steps a power of two, so that a block serves many sizes and at most
// a fifth of it is waste.

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace hk::detail {

class BlockCache {
public:
    static constexpr size_t kAlignment = 128;  // what Halide's code may assume
    static constexpr size_t kCacheBytes = size_t{64} << 20;

    ~BlockCache() { trim(); }

    // Null where the host has no memory left.
    void *allocate(size_t bytes) noexcept;
    void free(void *block) noexcept;

    // Gives all kept blocks back to the system.
    void trim() noexcept;

    size_t cached_bytes() noexcept;

private:
    static constexpr size_t kClasses = 4 * 20;  // blocks of 128 bytes to 112 MB

    std::mutex mutex_;
    std::array<std::vector<void *>, kClasses> kept_;
    size_t cached_bytes_ = 0;
};

// The one that Halide's runtime uses. Never destroyed.
BlockCache &block_cache() noexcept;

// Memory for one call; null where there is none left.
class Scratch {
public:
    explicit Scratch(size_t bytes) : block_(block_cache().allocate(bytes)) {}
    ~Scratch() { block_cache().free(block_); }
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    template<typename T>
    T *as() const {
        return static_cast<T *>(block_);
    }

private:
    void *block_;
};

}  // namespace hk::detail
