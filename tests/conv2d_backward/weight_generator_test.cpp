// Are the algorithms the definition: the gradients of the filter and of the bias under the root
// schedule, on small odd shapes, for sums divided in several ways.

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/conv2d_backward/jit.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

using Parameters = std::tuple<const char *, Layout, DataType>;

template<typename Case>
void check_algorithm(const Parameters &parameters, const JitAlgorithm &algorithm) {
    const auto &[knobs, layout, type] = parameters;
    const JitConv2dBackward root(Case().pass, algorithm, "root", knobs, type, layout);
    for (const Data data : {Data::integers, Data::reals, Data::one_nan, Data::one_infinity}) {
        const auto cases = random_cases<Case>(12, {type, layout, data, algorithm.where, 5e4});
        EXPECT_FALSE(cases.empty());
        for (const Case &c : cases) {
            const BackwardOperands operands = backward_operands(c);
            const std::string faults = compare(c, operands, root(c, operands));
            ASSERT_EQ(faults, "") << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
        }
    }
}

class Conv2dBackwardTiles : public testing::TestWithParam<Parameters> {};
class Conv2dBackwardSums : public testing::TestWithParam<Parameters> {};

TEST_P(Conv2dBackwardTiles, AreTheWeightsGradient) {
    check_algorithm<BackwardWeightCase>(GetParam(), {"any", {{"algorithm", "tiles"}}, {}});
}

// Slices of columns that end inside a row, and parts that are empty.
TEST(Conv2dBackwardWeightSlices, AreTheWeightsGradient) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            for (const char *knobs : {"tile_c:1", "tile_c:8", "tile_c:4,parts:3"}) {
                check_algorithm<BackwardWeightCase>({knobs, layout, type},
                                                    {"any", {{"algorithm", "sliced"}}, {}});
            }
        }
    }
}

TEST_P(Conv2dBackwardSums, AreTheBiasGradient) {
    check_algorithm<BackwardBiasCase>(GetParam(), {"any", {{"algorithm", "partial_sums"}}, {}});
}

std::string name(const testing::TestParamInfo<Parameters> &info) {
    std::string knobs = std::get<0>(info.param);
    std::erase(knobs, ':');
    std::replace(knobs.begin(), knobs.end(), ',', '_');
    return knobs + "_" + std::string(name_of(std::get<1>(info.param))) + "_" +
           std::string(name_of(std::get<2>(info.param)));
}

// Tiles of a pixel, of several that no image is a multiple of, and lanes of columns.
INSTANTIATE_TEST_SUITE_P(
    All, Conv2dBackwardTiles,
    testing::Combine(testing::Values("pixels:1", "pixels:5,step:2", "pixels:12,lanes:4"),
                     testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    name);
INSTANTIATE_TEST_SUITE_P(
    All, Conv2dBackwardSums,
    testing::Combine(testing::Values("lanes:1,parts:1", "lanes:1,parts:8", "lanes:4,parts:3"),
                     testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    name);

}  // namespace
}  // namespace hk::test
