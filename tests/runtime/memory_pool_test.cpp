// The pool behind hk::MemoryPool, over every kind of upstream.

#include "memory/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "hk/error.h"
#include "memory/size_class.h"
#include "tests/runtime/expect_error.h"
#include "tests/runtime/upstreams.h"

namespace hk::detail {
namespace {

using Pool = MemoryPool::Impl;
using tests::Heap;
using tests::Strip;

TEST(SizeClass, WastesLessThanOneIn25) {
    for (size_t bytes = 0; bytes < (size_t{1} << 40); bytes += bytes / 97 + 1) {
        const size_t size = SizeClass::holding(bytes).bytes();
        ASSERT_GE(size, bytes);
        ASSERT_EQ(size % SizeClass::kUnit, 0u);
        if (bytes <= 4096) {
            ASSERT_LT(size - bytes, SizeClass::kUnit + (bytes == 0));
        } else {
            ASSERT_LT((size - bytes) * 25, bytes);
        }
        const size_t within = SizeClass::within(size).bytes();
        ASSERT_EQ(within, size) << bytes;
        if (bytes >= SizeClass::kUnit) {
            ASSERT_LE(SizeClass::within(bytes).bytes(), bytes);
        }
        if (size > bytes && bytes >= SizeClass::kUnit) {
            ASSERT_LT(SizeClass::within(bytes).bytes(), size);
        }
    }
}

struct Kind {
    const char *name;
    std::unique_ptr<MemoryUpstream> (*make)();
};

void PrintTo(const Kind &kind, std::ostream *out) { *out << kind.name; }

class MemoryPools : public testing::TestWithParam<Kind> {
protected:
    Pool pool{Device::cpu(), "pool", [](bool) { return GetParam().make(); }};

    Block *allocate(size_t bytes) { return pool.allocate(bytes, "test"); }

    void expect_empty() {
        pool.trim(0);
        const MemoryStatistics now = pool.statistics();
        EXPECT_EQ(now.reserved, 0);
        EXPECT_EQ(now.cached, 0);
        EXPECT_EQ(now.in_use, 0);
        EXPECT_EQ(now.requested, 0);
        EXPECT_EQ(now.blocks, 0);
        EXPECT_EQ(now.largest_free, 0);
    }
};

INSTANTIATE_TEST_SUITE_P(Upstreams, MemoryPools,
                         testing::Values(Kind{"pages", [] { return host_upstream(); }},
                                         Kind{"strip",
                                              []() -> std::unique_ptr<MemoryUpstream> {
                                                  return std::make_unique<Strip>();
                                              }},
                                         Kind{"single", [] { return host_upstream(false); }},
                                         Kind{"pieces",
                                              []() -> std::unique_ptr<MemoryUpstream> {
                                                  return std::make_unique<Heap>(true,
                                                                                size_t{2} << 20);
                                              }},
                                         Kind{"buffers",
                                              []() -> std::unique_ptr<MemoryUpstream> {
                                                  return std::make_unique<Heap>(false, 128);
                                              }}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(MemoryPools, GivesAlignedBlocksOfTheirOwn) {
    std::vector<Block *> blocks;
    for (size_t bytes = 0; bytes < 100000; bytes += bytes / 5 + 1) {
        Block *block = allocate(bytes);
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block->memory) % SizeClass::kUnit, 0u);
        EXPECT_EQ(block->requested, bytes);
        EXPECT_GE(block->bytes, bytes);
        std::memset(block->memory, static_cast<int>(blocks.size()), bytes);
        blocks.push_back(block);
    }
    for (size_t i = 0; i < blocks.size(); i++) {
        for (size_t b = 0; b < blocks[i]->requested; b++) {
            ASSERT_EQ(static_cast<uint8_t>(blocks[i]->memory[b]), i);
        }
        pool.free(blocks[i]);
    }
    expect_empty();
}

TEST_P(MemoryPools, AFreedBlockServesTheNextOfItsSize) {
    for (size_t bytes : {1, 128, 129, 1000, 65536, 65537, 1 << 20, 9999999}) {
        Block *block = allocate(bytes);
        const char *const memory = block->memory;
        pool.free(block);
        const int64_t before = pool.statistics().hits;
        block = allocate(bytes);
        EXPECT_EQ(block->memory, memory) << bytes;
        EXPECT_EQ(pool.statistics().hits, before + 1);
        pool.free(block);
    }
    expect_empty();
}

// A loop that allocates the same, in any order of frees, reserves nothing after its first rounds.
TEST_P(MemoryPools, LoopsAreFlat) {
    std::mt19937 random(1);
    std::vector<size_t> sizes(100);
    for (size_t &size : sizes) size = random() % (1 << (random() % 20)) + 1;
    int64_t reserved = 0;
    for (int round = 0; round < 200; round++) {
        std::vector<Block *> blocks;
        for (size_t size : sizes) blocks.push_back(allocate(size));
        std::shuffle(blocks.begin(), blocks.end(), random);
        for (Block *block : blocks) pool.free(block);
        if (round == 0) reserved = pool.statistics().reserved;
        ASSERT_EQ(pool.statistics().reserved, reserved) << round;
    }
    expect_empty();
}

// Random blocks, each filled with a pattern that must be there when it goes; counters as counted.
TEST_P(MemoryPools, RandomBlocksNeverOverlap) {
    std::mt19937 random(2);
    std::vector<std::pair<Block *, uint8_t>> live;
    int64_t requested = 0;
    for (int step = 0; step < 30000; step++) {
        if (live.empty() || random() % 100 < (step / 3000 % 2 ? 45 : 55)) {
            const size_t bytes = random() % (size_t{2} << (random() % 18));
            Block *block = allocate(bytes);
            ASSERT_NE(block, nullptr);
            const auto pattern = static_cast<uint8_t>(random());
            std::memset(block->memory, pattern, bytes);
            live.emplace_back(block, pattern);
            requested += static_cast<int64_t>(bytes);
        } else {
            std::swap(live[random() % live.size()], live.back());
            const auto [block, pattern] = live.back();
            live.pop_back();
            for (size_t b = 0; b < block->requested; b++) {
                ASSERT_EQ(static_cast<uint8_t>(block->memory[b]), pattern);
            }
            requested -= static_cast<int64_t>(block->requested);
            pool.free(block);
        }
        if (step % 1000 == 0) pool.trim(size_t{random()} % 100000);
        if (step % 100) continue;
        const MemoryStatistics now = pool.statistics();
        ASSERT_EQ(now.requested, requested);
        ASSERT_EQ(now.blocks, static_cast<int64_t>(live.size()));
        ASSERT_EQ(now.reserved, now.in_use + now.cached);
        ASSERT_LE(now.largest_free, now.cached);
        ASSERT_GE(now.peak_reserved, now.reserved);
    }
    for (const auto &[block, pattern] : live) pool.free(block);
    expect_empty();
}

TEST_P(MemoryPools, ThresholdBoundsTheCache) {
    pool.set_threshold(1 << 20);
    std::vector<Block *> blocks;
    for (int i = 0; i < 64; i++) blocks.push_back(allocate(size_t{200} << 10));
    for (Block *block : blocks) pool.free(block);
    EXPECT_LE(pool.statistics().cached, 1 << 20);
    pool.set_threshold(0);
    EXPECT_EQ(pool.statistics().cached, 0);
    expect_empty();
}

// Neither setting changes the other.
TEST_P(MemoryPools, ThresholdsOutlastTimesWithoutACache) {
    const auto kept = [this](size_t bytes) {
        pool.free(allocate(bytes));
        return pool.statistics().cached;
    };
    pool.set_threshold(16 << 20);
    pool.set_caching(false);
    EXPECT_EQ(pool.statistics().threshold, 16 << 20);
    EXPECT_EQ(kept(1000), 0);
    pool.set_threshold(8 << 20);
    EXPECT_EQ(kept(1000), 0);
    pool.set_caching(true);
    EXPECT_EQ(pool.statistics().threshold, 8 << 20);
    EXPECT_GT(kept(1000), 0);
    EXPECT_LE(kept(12 << 20), 8 << 20);
    expect_empty();
}

TEST_P(MemoryPools, LimitHoldsAndTheCacheGoesFirst) {
    constexpr size_t kMost = size_t{16} << 20;
    pool.set_limit(kMost);
    Block *large = allocate(size_t{9} << 20);
    ASSERT_NE(large, nullptr);
    EXPECT_EQ(allocate(size_t{9} << 20), nullptr);
    EXPECT_EQ(pool.statistics().failures, 1);
    pool.free(large);
    // Fits only when what is cached goes back, or is used.
    Block *other = allocate(size_t{15} << 20);
    ASSERT_NE(other, nullptr);
    EXPECT_LE(pool.statistics().reserved, static_cast<int64_t>(kMost));
    const std::string text = pool.shortage(12345);
    for (const char *word : {"pool: no memory left", "asked for 12345 bytes", "in use", "cached",
                             "largest free block", "the limit is 16777216"}) {
        EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    pool.free(other);
    EXPECT_EQ(allocate(SIZE_MAX), nullptr);
    EXPECT_EQ(allocate(SIZE_MAX / 2), nullptr);
    pool.set_limit(0);
    EXPECT_EQ(allocate(1), nullptr);
    EXPECT_EQ(pool.statistics().reserved, 0);
    expect_empty();
}

TEST_P(MemoryPools, ThreadsShareIt) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([this, t] {
            std::mt19937 random(static_cast<unsigned>(t));
            std::vector<Block *> mine;
            for (int i = 0; i < 5000; i++) {
                if (mine.size() < 20) {
                    mine.push_back(allocate(random() % 5000 + 1));
                    std::memset(mine.back()->memory, t, mine.back()->requested);
                } else {
                    std::swap(mine[random() % mine.size()], mine.back());
                    const Block *block = mine.back();
                    for (size_t b = 0; b < block->requested; b++) {
                        if (block->memory[b] != t) ADD_FAILURE() << "of another thread";
                    }
                    pool.free(mine.back());
                    mine.pop_back();
                }
            }
            for (Block *block : mine) pool.free(block);
        });
    }
    for (std::thread &thread : threads) thread.join();
    expect_empty();
}

TEST_P(MemoryPools, ListsBlocksInUseWithTheirLabels) {
    Block *a = pool.allocate(1000, "weights"), *b = pool.allocate(20, "forward");
    std::multiset<std::pair<std::string, size_t>> found;
    pool.each_in_use([&](const Block &block) { found.insert({block.label, block.requested}); });
    EXPECT_EQ(found,
              (std::multiset<std::pair<std::string, size_t>>{{"forward", 20}, {"weights", 1000}}));
    pool.free(a);
    pool.free(b);
    pool.each_in_use([](const Block &) { FAIL(); });
    expect_empty();
}

TEST_P(MemoryPools, PeaksStartAgain) {
    Block *a = allocate(100000);
    pool.free(a);
    a = allocate(10);
    EXPECT_GE(pool.statistics().peak_requested, 100000);
    pool.reset_peaks();
    EXPECT_EQ(pool.statistics().peak_requested, 10);
    EXPECT_EQ(pool.statistics().peak_in_use, pool.statistics().in_use);
    EXPECT_EQ(pool.statistics().peak_reserved, pool.statistics().reserved);
    pool.free(a);
}

TEST_P(MemoryPools, RefusesBadArguments) {
    EXPECT_INVALID("pool: a memory limit of -1 bytes", pool.set_limit(-1));
    EXPECT_INVALID("pool: a memory threshold of -5 bytes", pool.set_threshold(-5));
    Block *block = allocate(1);
    EXPECT_INVALID("while 1 blocks are in use", pool.set_upstream(host_upstream()));
    EXPECT_INVALID("the upstream is null", pool.set_upstream(nullptr));
    pool.free(block);
    pool.free(nullptr);
    expect_empty();
}

// Freed neighbours are one block again, in whatever order they go.
TEST(MemoryPool, JoinsFreeNeighbours) {
    std::mt19937 random(3);
    Pool pool(Device::cpu(), "pool", [](bool) { return host_upstream(); });
    for (int round = 0; round < 50; round++) {
        std::vector<Block *> blocks;
        for (int i = 0; i < 100; i++) blocks.push_back(pool.allocate(random() % 30000, ""));
        std::shuffle(blocks.begin(), blocks.end(), random);
        for (Block *block : blocks) pool.free(block);
        const MemoryStatistics now = pool.statistics();
        ASSERT_EQ(now.largest_free, now.cached);
        ASSERT_EQ(now.fragmentation(), 0);
    }
}

// What a pool keeps beyond the blocks in use is at most a granule when nothing was freed.
TEST(MemoryPool, ReservesWhatIsAsked) {
    Pool pool(Device::cpu(), "pool", [](bool) { return host_upstream(); });
    std::vector<Block *> blocks;
    for (int i = 0; i < 200; i++) blocks.push_back(pool.allocate(30000 + 17 * i, ""));
    EXPECT_LT(pool.statistics().cached, 65536);
    for (Block *block : blocks) pool.free(block);
}

// An upstream that fails at its n-th call: either the cache helps, or the block is refused; what is
// in use stays as it was, and later all is well again.
TEST(MemoryPool, SurvivesAFailingUpstream) {
    for (int n = 0; n < 200; n++) {
        for (const bool divides : {true, false}) {
            auto *heap = new Heap(divides, 4096);
            Pool pool(Device::cpu(), "pool",
                      [&](bool) { return std::unique_ptr<MemoryUpstream>(heap); });
            heap->fail_at = n;
            std::mt19937 random(4);
            std::vector<Block *> live;
            int refused = 0;
            for (int i = 0; i < 400; i++) {
                Block *block = pool.allocate(random() % 20000, "");
                if (!block) refused++;
                if (block) live.push_back(block);
                if (live.size() > 100) {
                    pool.free(live.front());
                    live.erase(live.begin());
                }
            }
            EXPECT_LE(refused, 1);
            EXPECT_EQ(pool.statistics().failures, refused);
            EXPECT_EQ(pool.statistics().blocks, static_cast<int64_t>(live.size()));
            for (Block *block : live) pool.free(block);
            EXPECT_EQ(pool.statistics().in_use, 0);
        }
    }
}

// When the system has nothing left, what is cached goes back, and the block comes from that.
TEST(MemoryPool, GivesTheCacheBackBeforeItFails) {
    auto *heap = new Heap(false, 128);
    Pool pool(Device::cpu(), "pool", [&](bool) { return std::unique_ptr<MemoryUpstream>(heap); });
    heap->left = 1 << 20;
    std::vector<Block *> blocks;
    for (int i = 0; i < 8; i++) blocks.push_back(pool.allocate(100000, ""));
    EXPECT_EQ(pool.allocate(500000, ""), nullptr);
    for (Block *block : blocks) pool.free(block);
    Block *block = pool.allocate(900000, "");
    EXPECT_NE(block, nullptr);
    EXPECT_EQ(pool.statistics().cached, 0);
    pool.free(block);
}

}  // namespace
}  // namespace hk::detail
