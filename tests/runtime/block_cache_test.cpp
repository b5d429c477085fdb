#include "block_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace hk::detail {
namespace {

TEST(BlockCache, BlocksAreAlignedAndLargeEnough) {
    BlockCache cache;
    std::vector<void *> blocks;
    for (size_t bytes = 0; bytes < 5000; bytes += 7) {
        void *block = cache.allocate(bytes);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % BlockCache::kAlignment, 0u);
        std::memset(block, 0xab, bytes);  // under the sanitizers: within the block
        blocks.push_back(block);
    }
    for (void *block : blocks) cache.free(block);
}

TEST(BlockCache, FreedBlocksComeBack) {
    BlockCache cache;
    for (size_t bytes : {1, 128, 129, 1000, 65536, 65537, 1 << 20}) {
        void *block = cache.allocate(bytes);
        cache.free(block);
        EXPECT_GE(cache.cached_bytes(), bytes);
        EXPECT_EQ(cache.allocate(bytes), block) << bytes;
        EXPECT_EQ(cache.cached_bytes(), 0u);
        cache.free(block);
        cache.trim();
    }
}

TEST(BlockCache, WasteIsBounded) {
    BlockCache cache;
    for (size_t bytes = 129; bytes < (size_t{64} << 20); bytes += bytes / 3 + 1) {
        cache.free(cache.allocate(bytes));
        EXPECT_GE(cache.cached_bytes(), bytes);
        EXPECT_LE(cache.cached_bytes(), bytes + bytes / 4 + 32) << bytes;
        cache.trim();
    }
}

TEST(BlockCache, KeepsNoMoreThanItsLimit) {
    BlockCache cache;
    std::vector<void *> blocks;
    for (int i = 0; i < 100; i++) blocks.push_back(cache.allocate(1 << 20));
    for (void *block : blocks) cache.free(block);
    EXPECT_LE(cache.cached_bytes(), BlockCache::kCacheBytes);
    EXPECT_GE(cache.cached_bytes(), BlockCache::kCacheBytes / 2);
    cache.free(cache.allocate(BlockCache::kCacheBytes + 1));  // never kept
    EXPECT_LE(cache.cached_bytes(), BlockCache::kCacheBytes);
    cache.trim();
    EXPECT_EQ(cache.cached_bytes(), 0u);
}

TEST(BlockCache, NoMemoryIsNull) {
    BlockCache cache;
    EXPECT_EQ(cache.allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(cache.allocate(size_t{1} << 60), nullptr);
    cache.free(nullptr);
}

TEST(BlockCache, ThreadsDoNotShareBlocks) {
    BlockCache cache;
    const auto work = [&](int seed) {
        for (size_t i = 0; i < 2000; i++) {
            const size_t bytes = 64 + i % 7 * 300;
            auto *block = static_cast<unsigned char *>(cache.allocate(bytes));
            std::memset(block, seed, bytes);
            std::this_thread::yield();
            for (size_t j = 0; j < bytes; j += 50) ASSERT_EQ(block[j], seed);
            cache.free(block);
        }
    };
    std::vector<std::thread> threads;
    for (int seed = 0; seed < 4; seed++) threads.emplace_back(work, seed);
    for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace hk::detail
