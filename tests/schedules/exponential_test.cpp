// The error of generators/exponential.h against double, and what is not a number of its range.

#include "generators/exponential.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace Halide;
using hk::generators::exponential;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// By the vectors of a target.
class Exponential : public testing::TestWithParam<const char *> {
protected:
    Exponential() : target_(Target(GetParam())) {
        f_(x_) = exponential(in_(x_));
        f_.vectorize(x_, target_.natural_vector_size<float>(), TailStrategy::GuardWithIf);
    }

    std::vector<float> of(std::vector<float> values) {
        const int count = static_cast<int>(values.size());
        in_.set(Buffer<float>(values.data(), count));
        const Buffer<float> result = f_.realize({count}, target_);
        return {result.begin(), result.end()};
    }

    const Target target_;
    ImageParam in_{Float(32), 1};
    Var x_{"x"};
    Func f_{"f"};
};

// Every 251st float from -88 to -2^-30, and their opposites.
TEST_P(Exponential, ErrsByUnits) {
    const bool fused =
        target_.has_feature(Target::FMA) && !target_.has_feature(Target::StrictFloat);
    std::vector<float> values;
    const auto last = std::bit_cast<uint32_t>(88.f);
    for (auto bits = std::bit_cast<uint32_t>(0x1p-30f); bits <= last; bits += 251) {
        values.push_back(-std::bit_cast<float>(bits));
        values.push_back(std::bit_cast<float>(bits));
    }
    const std::vector<float> results = of(values);
    for (size_t i = 0; i < values.size(); i++) {
        const double v = values[i], wanted = std::exp(v);
        if (v < -87) {
            ASSERT_GE(results[i], 0) << v;
            ASSERT_LT(results[i], 0x1p-125) << v;
            continue;
        }
        const double unit = std::ldexp(1, std::ilogb(wanted) - 23);
        const double error = std::abs(results[i] - wanted) / unit;
        ASSERT_LT(error, 1.1 + std::abs(v) / (fused ? 25 : 1)) << v;
    }
}

TEST_P(Exponential, OfWhatIsNoNumberOfItsRange) {
    const std::vector<float> results =
        of({-kInfinity, -1e30f, -88.f, 0.f, -0.f, std::numeric_limits<float>::denorm_min(),
            std::numeric_limits<float>::quiet_NaN()});
    EXPECT_EQ(results[0], 0);
    EXPECT_EQ(results[1], 0);
    EXPECT_EQ(results[2], 0);
    EXPECT_EQ(results[3], 1);
    EXPECT_EQ(results[4], 1);
    EXPECT_EQ(results[5], 1);
    EXPECT_TRUE(std::isnan(results[6]) || results[6] == 0) << results[6];
}

INSTANTIATE_TEST_SUITE_P(Targets, Exponential,
                         testing::Values("host", "host-strict_float", "x86-64-linux-sse41"));

}  // namespace
