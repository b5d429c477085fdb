// Is the algorithm the definition: each one under the root schedule, on small odd shapes.

#include <gtest/gtest.h>

#include <tuple>

#include "tests/quantized_conv2d/jit.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

// Words of four channels, in the lanes of a vector of s32.
const int dot_channels = 4 * Halide::get_host_target().natural_vector_size<int32_t>();

class QuantizedConv2dAlgorithm
    : public testing::TestWithParam<std::tuple<JitAlgorithm, Layout, DataType, int>> {
protected:
    void check_cases(const JitAlgorithm &algorithm, const JitQuantizedConv2d &root, Data data) {
        const auto &[unused, layout, type, bytes] = GetParam();
        const auto cases =
            random_cases<QuantizedConv2dCase>(16, {type, layout, data, algorithm.where, 5e4});
        EXPECT_FALSE(cases.empty());
        for (const QuantizedConv2dCase &c : cases) {
            const QuantizedHostTensors tensors(c, quantized_conv2d_operands(c));
            ASSERT_EQ(compare(c, tensors, root(c, tensors)), "")
                << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
        }
    }
};

TEST_P(QuantizedConv2dAlgorithm, IsTheDefinition) {
    auto [algorithm, layout, type, bytes] = GetParam();
    algorithm.parameters["fix_output_bytes"] = std::to_string(bytes);
    algorithm.where.push_back({"output_bytes", Constraint::Relation::equal, bytes});
    const JitQuantizedConv2d root(algorithm, "root", "", type, layout);
    check_cases(algorithm, root, Data::integers);
    if (type == DataType::f32) {
        check_cases(algorithm, root, Data::reals);
    }
    if (type == DataType::f32 && bytes == 4) {
        check_cases(algorithm, root, Data::one_nan);
        check_cases(algorithm, root, Data::one_infinity);
    }
}

INSTANTIATE_TEST_SUITE_P(All, QuantizedConv2dAlgorithm,
                         testing::Combine(testing::ValuesIn(jit_algorithms(dot_channels)),
                                          testing::Values(Layout::nhwc, Layout::nchw),
                                          testing::Values(DataType::u8, DataType::f32),
                                          testing::Values(1, 4)),
                         [](const auto &info) {
                             return std::get<0>(info.param).name + "_" +
                                    std::string(name_of(std::get<1>(info.param))) + "_" +
                                    std::string(name_of(std::get<2>(info.param))) + "_to_" +
                                    std::to_string(8 * std::get<3>(info.param));
                         });

}  // namespace
}  // namespace hk::test
