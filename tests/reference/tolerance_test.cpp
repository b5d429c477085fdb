// A tolerance is of use where it lets rounding pass and a missing term fail.

#include "tests/reference/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/seed.h"

namespace hk::reference {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Sum {
    float result = 0;
    double value = 0, magnitude = 0, last = 0;
};

Sum sum_of(int terms, Random &random) {
    std::uniform_real_distribution<float> draw(-1, 1);
    Sum sum;
    for (int i = 0; i < terms; i++) {
        const float a = draw(random), b = draw(random);
        sum.result += a * b;
        sum.last = static_cast<double>(a) * b;
        sum.value += sum.last;
        sum.magnitude += std::abs(sum.last);
    }
    return sum;
}

TEST(Tolerance, LetsRoundingInF32Pass) {
    for (const uint64_t seed : seeds(200)) {
        Random random(seed);
        const int terms = static_cast<int>(uniform(random, 1, 3000));
        const Sum sum = sum_of(terms, random);
        const double bound = tolerance(DataType::f32, terms, sum.value, sum.magnitude);
        EXPECT_TRUE(close(DataType::f32, sum.result, sum.value, bound)) << repeat_command(seed);
    }
}

TEST(Tolerance, FindsAMissingTerm) {
    for (const uint64_t seed : seeds(200)) {
        Random random(seed);
        const int terms = static_cast<int>(uniform(random, 1, 1000));
        const Sum sum = sum_of(terms, random);
        const double bound = tolerance(DataType::f32, terms, sum.value, sum.magnitude);
        if (std::abs(sum.last) > 0.1) {
            EXPECT_FALSE(close(DataType::f32, sum.value - sum.last, sum.value, bound))
                << repeat_command(seed);
        }
    }
}

TEST(Tolerance, GrowsWithTheStorageType) {
    const double f32 = tolerance(DataType::f32, 9, 1, 1);
    const double f16 = tolerance(DataType::f16, 9, 1, 1);
    const double bf16 = tolerance(DataType::bf16, 9, 1, 1);
    EXPECT_LT(f32, f16);
    EXPECT_LT(f16, bf16);
    EXPECT_LT(bf16, 0.005);
}

// As hk/conv2d.h says.
TEST(Tolerance, OfWinogradGrows) {
    const WinogradSum sum = winograd_sum(64);
    EXPECT_EQ(sum.terms, 64 + 26);
    EXPECT_GT(sum.growth, 160);
    EXPECT_LE(sum.growth, 161);
}

TEST(Tolerance, TellsNanAndInfinityApart) {
    EXPECT_TRUE(close(DataType::f32, nan, nan, 1));
    EXPECT_FALSE(close(DataType::f32, nan, 0, 1));
    EXPECT_FALSE(close(DataType::f32, 0, nan, 1));
    EXPECT_TRUE(close(DataType::f32, infinity, infinity, 1));
    EXPECT_FALSE(close(DataType::f32, infinity, -infinity, 1));
    EXPECT_FALSE(close(DataType::f32, infinity, 1, 1));
    EXPECT_TRUE(close(DataType::f16, infinity, 65519, 16));
    EXPECT_FALSE(close(DataType::f16, -infinity, 65519, 16));
}

}  // namespace
}  // namespace hk::reference
