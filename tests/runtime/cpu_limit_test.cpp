#include "cpu_limit.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "HalideRuntime.h"
#include "tests/runtime/expect_error.h"

namespace hk::detail {
namespace {

std::array<uint64_t, 4> bits(std::initializer_list<halide_target_feature_t> features) {
    std::array<uint64_t, 4> result{};
    for (const auto feature : features) result[feature / 64] |= uint64_t{1} << (feature % 64);
    return result;
}

TEST(CpuLimit, NamesAreInOrder) {
    EXPECT_EQ(cpu_level("", true), std::nullopt);
    EXPECT_EQ(cpu_level("", false), std::nullopt);
    std::istringstream names(HK_CPU_LEVELS);  // of the targets that kernels are compiled for
    size_t level = 0;
    for (std::string name; std::getline(names, name, ','); level++)
        EXPECT_EQ(cpu_level(name, true), level) << name;
    EXPECT_EQ(level, 4u);
}

TEST(CpuLimit, LevelsAllowWhatTheyHave) {
    const auto avx512 = bits({halide_target_feature_avx512, halide_target_feature_avx512_skylake,
                              halide_target_feature_avx2, halide_target_feature_sse41});
    const auto avx2 = bits({halide_target_feature_avx2, halide_target_feature_avx,
                            halide_target_feature_fma, halide_target_feature_sse41});
    const auto sse41 = bits({halide_target_feature_sse41});
    const auto none = bits({halide_target_feature_user_context});
    // By level: what of these it allows.
    const std::array<bool, 4> expected[] = {{true, true, true, true},
                                            {false, true, true, true},
                                            {false, false, true, true},
                                            {false, false, false, true}};
    for (size_t level = 0; level < 4; level++) {
        SCOPED_TRACE(level);
        EXPECT_EQ(allows(level, avx512), expected[level][0]);
        EXPECT_EQ(allows(level, avx2), expected[level][1]);
        EXPECT_EQ(allows(level, sse41), expected[level][2]);
        EXPECT_EQ(allows(level, none), expected[level][3]);
    }
    EXPECT_TRUE(allows(std::nullopt, avx512));
}

TEST(CpuLimit, OtherValuesAreRejected) {
    EXPECT_INVALID("HK_CPU is \"avx3\", not avx512, avx2, sse41 or x86-64",
                   cpu_level("avx3", true));
    EXPECT_INVALID("HK_CPU is \"AVX2\"", cpu_level("AVX2", true));
    EXPECT_INVALID("kernels are compiled for one CPU", cpu_level("avx2", false));
}

}  // namespace
}  // namespace hk::detail
