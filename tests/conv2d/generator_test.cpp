// Is the algorithm the equation: each one under the root schedule, on small odd shapes.

#include <gtest/gtest.h>

#include <tuple>

#include "tests/conv2d/jit.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

const int lanes = Halide::get_host_target().natural_vector_size<float>();

class Conv2dAlgorithm : public testing::TestWithParam<std::tuple<JitAlgorithm, Layout, DataType>> {
};

TEST_P(Conv2dAlgorithm, IsTheEquation) {
    const auto &[algorithm, layout, type] = GetParam();
    const JitConv2d root(algorithm, "root", "", type, layout);
    KernelInfo row{};
    row.algorithm = algorithm.parameters.at("algorithm").c_str();
    for (const Data data : {Data::integers, Data::reals, Data::one_nan, Data::one_infinity}) {
        const auto cases = random_cases<Conv2dCase>(12, {type, layout, data, algorithm.where, 5e4});
        EXPECT_FALSE(cases.empty());
        for (const Conv2dCase &c : cases) {
            const Conv2dOperands operands = conv2d_operands(c);
            const std::string faults = compare(c, operands, root(c, operands), &row);
            ASSERT_EQ(faults, "") << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
        }
    }
}

std::vector<JitAlgorithm> algorithms() {
    std::vector<JitAlgorithm> result = jit_algorithms(lanes);
    result.push_back({"grouped",
                      {{"algorithm", "grouped"}},
                      {{"filters_per_group", Constraint::Relation::at_most, 16}}});
    result.push_back(winograd_algorithm());
    return result;
}

INSTANTIATE_TEST_SUITE_P(
    All, Conv2dAlgorithm,
    testing::Combine(testing::ValuesIn(algorithms()), testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    [](const auto &info) {
        return std::get<0>(info.param).name + "_" + std::string(name_of(std::get<1>(info.param))) +
               "_" + std::string(name_of(std::get<2>(info.param)));
    });

}  // namespace
}  // namespace hk::test
