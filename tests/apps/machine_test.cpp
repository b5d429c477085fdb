// What bench says of the CPU.

#include "machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"

namespace hk::bench {

namespace {

using Caches = std::array<int64_t, 3>;

TEST(Machine, CachesAreThoseOfDataByLevel) {
    const std::filesystem::path folder = test::own_file("cache");
    const auto add = [&](const std::string &name, const char *level, const char *type,
                         const char *size) {
        std::filesystem::create_directories(folder / name);
        std::ofstream(folder / name / "level") << level << '\n';
        std::ofstream(folder / name / "type") << type << '\n';
        std::ofstream(folder / name / "size") << size << '\n';
    };
    add("index0", "1", "Data", "48K");
    add("index1", "1", "Instruction", "32K");
    add("index2", "2", "Unified", "1024K");
    EXPECT_EQ(caches_in(folder), (Caches{48 << 10, 1 << 20, 0}));
    add("index3", "3", "Unified", "96M");
    std::ofstream(folder / "uevent") << "";
    EXPECT_EQ(caches_in(folder), (Caches{48 << 10, 1 << 20, 96 << 20}));
    EXPECT_EQ(caches_in(folder / "nowhere"), Caches{});
}

TEST(Machine, TextLeavesOutWhatIsNotKnown) {
    const Abilities whole{"AVX-512", 1.96, 4.04, {48 << 10, 3 << 19, 96 << 20}};
    EXPECT_EQ(whole.text(), "AVX-512, 2.0 FMA a cycle at 4.0 GHz; caches 48 KiB, 1.5 MiB, 96 MiB");
    EXPECT_EQ((Abilities{"AVX2", 1, 3, {}}.text()), "AVX2, 1.0 FMA a cycle at 3.0 GHz");
}

// No core starts more than two vector FMAs a cycle, and none of x86-64 less than one in two.
TEST(Machine, FmasAreCountedByTheClock) {
    const Abilities here = measure_abilities();
    EXPECT_GT(here.fmas, 0.4);
    EXPECT_LT(here.fmas, 2.3);
    EXPECT_GT(here.gigahertz, 0.5);
    EXPECT_LT(here.gigahertz, 8);
}

}  // namespace

}  // namespace hk::bench
