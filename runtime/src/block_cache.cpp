#include "block_cache.h"

#include <bit>
#include <cstdlib>
#include <new>

namespace hk::detail {

namespace {

// In front of a block; its class tells where the block goes when it is freed.
struct Header {
    size_t size_class;
};

constexpr size_t kUncached = SIZE_MAX;

// Class 4 * p + q holds blocks of (4 + q) << (p + 5) bytes.
size_t class_of(size_t bytes) {
    const size_t units = (bytes + 31) >> 5;  // of 32 bytes
    if (units <= 4) return 0;
    const size_t p = static_cast<size_t>(std::bit_width(units - 1)) - 3;
    return 4 * p + (((units - 1) >> p) & 3) + 1;
}

size_t bytes_of(size_t size_class) { return (4 + size_class % 4) << (size_class / 4 + 5); }

void *start_of(void *block) { return static_cast<char *>(block) - BlockCache::kAlignment; }

}  // namespace

void *BlockCache::allocate(size_t bytes) noexcept {
    const size_t size_class = bytes <= kCacheBytes ? class_of(bytes) : kUncached;
    const bool cached = size_class < kClasses;
    if (cached) {
        const std::lock_guard lock(mutex_);
        std::vector<void *> &kept = kept_[size_class];
        if (!kept.empty()) {
            void *block = kept.back();
            kept.pop_back();
            cached_bytes_ -= bytes_of(size_class);
            return block;
        }
        bytes = bytes_of(size_class);
    }
    if (bytes > SIZE_MAX - 2 * kAlignment) return nullptr;
    const size_t total = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    void *start = std::aligned_alloc(kAlignment, total);
    if (!start) {
        trim();
        start = std::aligned_alloc(kAlignment, total);
    }
    if (!start) return nullptr;
    new (start) Header{cached ? size_class : kUncached};
    return static_cast<char *>(start) + kAlignment;
}

void BlockCache::free(void *block) noexcept {
    if (!block) return;
    const size_t size_class = static_cast<Header *>(start_of(block))->size_class;
    if (size_class != kUncached) {
        const std::lock_guard lock(mutex_);
        const size_t bytes = bytes_of(size_class);
        if (cached_bytes_ + bytes <= kCacheBytes) {
            try {
                kept_[size_class].push_back(block);
                cached_bytes_ += bytes;
                return;
            } catch (const std::bad_alloc &) {
            }
        }
    }
    std::free(start_of(block));
}

void BlockCache::trim() noexcept {
    const std::lock_guard lock(mutex_);
    for (std::vector<void *> &kept : kept_) {
        for (void *block : kept) std::free(start_of(block));
        kept.clear();
    }
    cached_bytes_ = 0;
}

size_t BlockCache::cached_bytes() noexcept {
    const std::lock_guard lock(mutex_);
    return cached_bytes_;
}

BlockCache &block_cache() noexcept {
    static BlockCache *cache = new BlockCache;
    return *cache;
}

}  // namespace hk::detail
