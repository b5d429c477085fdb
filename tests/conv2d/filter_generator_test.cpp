// Is the packed filter the definition's: under root, and under the schedule of the CPU.

#include <gtest/gtest.h>

#include <tuple>

#include "tests/conv2d/jit.h"
#include "tests/conv2d/packed_filter.h"
#include "tests/support/print.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

class PackedFilter : public testing::TestWithParam<std::tuple<std::string, Layout, DataType>> {};

TEST_P(PackedFilter, IsTheDefinition) {
    const auto &[schedule, layout, type] = GetParam();
    const JitAlgorithm vectors{"vectors", {{"algorithm", "vectors"}}, {}};
    const Halide::Callable pack = jit_compile("conv2d_filter", vectors, schedule, "", type, layout);
    const auto cases = random_cases<Conv2dCase>(24, {type, layout, Data::reals, {}, 5e4});
    EXPECT_FALSE(cases.empty());
    for (const Conv2dCase &c : cases) {
        const Conv2dOperands operands = conv2d_operands(c);
        const Tensor weight = filled(operands.weight_shape, type, operands.weight);
        auto in = buffer_of(weight, filter_extents(c.problem));
        const Halide::Buffer<float> expected = packed_filter(c.problem, operands.weight);
        Halide::Buffer<float> packed = Halide::Buffer<float>::make_with_shape_of(expected);
        packed.fill(std::numeric_limits<float>::quiet_NaN());
        jit_call(pack, to_string(c), in, packed);
        expected.for_each_element([&](const int *at) {
            ASSERT_EQ(packed(at), expected(at))
                << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
        });
    }
}

TEST_P(PackedFilter, OfWinogradIsTheDefinition) {
    const auto &[schedule, layout, type] = GetParam();
    const JitAlgorithm winograd = winograd_algorithm();
    const Halide::Callable transform =
        jit_compile("conv2d_filter", winograd, schedule, "", type, layout);
    const auto cases =
        random_cases<Conv2dCase>(24, {type, layout, Data::reals, winograd.where, 5e4});
    EXPECT_FALSE(cases.empty());
    for (const Conv2dCase &c : cases) {
        const Conv2dOperands operands = conv2d_operands(c);
        const Tensor weight = filled(operands.weight_shape, type, operands.weight);
        auto in = buffer_of(weight, filter_extents(c.problem));
        const WinogradFilter expected = winograd_filter(c.problem, operands.weight);
        Halide::Buffer<float> packed = Halide::Buffer<float>::make_with_shape_of(expected.value);
        packed.fill(std::numeric_limits<float>::quiet_NaN());
        jit_call(transform, to_string(c), in, packed);
        expected.value.for_each_element([&](const int *at) {
            ASSERT_NEAR(packed(at), expected.value(at), expected.bound(at))
                << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(All, PackedFilter,
                         testing::Combine(testing::Values("root", "along_rows"),
                                          testing::Values(Layout::nhwc, Layout::nchw),
                                          testing::Values(DataType::f32, DataType::f16,
                                                          DataType::bf16)),
                         [](const auto &info) {
                             return std::get<0>(info.param) + "_" +
                                    std::string(name_of(std::get<1>(info.param))) + "_" +
                                    std::string(name_of(std::get<2>(info.param)));
                         });

}  // namespace
}  // namespace hk::test
