// What a pool does with its upstream's pieces.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "memory/pool.h"
#include "tests/runtime/upstreams.h"

namespace hk::detail {
namespace {

using Pool = MemoryPool::Impl;

// Lets the process map so many bytes more.
class AddressSpaceLimit {
public:
    explicit AddressSpaceLimit(size_t more) {
        getrlimit(RLIMIT_AS, &before_);
        size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit now = before_;
        now.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + more;
        setrlimit(RLIMIT_AS, &now);
    }
    ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
    AddressSpaceLimit(const AddressSpaceLimit &) = delete;
    AddressSpaceLimit &operator=(const AddressSpaceLimit &) = delete;

private:
    rlimit before_;
};

// Freed neighbours are one block, and go back, where only so much may be mapped and others map
// memory too.
TEST(MemoryPool, JoinsWhereAddressSpaceIsLimited) {
    for (const int megabytes : {3, 20, 200}) {
        const size_t most = static_cast<size_t>(megabytes) << 20;
        const AddressSpaceLimit limit(most);
        std::mt19937 random(5);
        Pool pool(Device::cpu(), "pool", [](bool) { return host_upstream(); });
        std::vector<std::pair<void *, size_t>> others;
        std::vector<Block *> blocks;
        for (size_t all = 0; all < most * 3 / 4;) {
            const size_t bytes = random() % (most / 50);
            blocks.push_back(pool.allocate(bytes, ""));
            ASSERT_NE(blocks.back(), nullptr) << all;
            others.emplace_back(
                mmap(nullptr, bytes / 8 + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                bytes / 8 + 1);
            all += bytes + bytes / 8 + 1;
        }
        std::shuffle(blocks.begin(), blocks.end(), random);
        for (Block *block : blocks) pool.free(block);
        const MemoryStatistics now = pool.statistics();
        EXPECT_EQ(now.largest_free, now.cached) << megabytes;
        Block *large = pool.allocate(static_cast<size_t>(now.cached) * 9 / 10, "");
        EXPECT_NE(large, nullptr);
        EXPECT_EQ(pool.statistics().reserved, now.reserved);
        pool.free(large);
        pool.trim(0);
        EXPECT_EQ(pool.statistics().reserved, 0) << megabytes;
        for (const auto &[memory, bytes] : others) munmap(memory, bytes);
    }
}

}  // namespace
}  // namespace hk::detail
