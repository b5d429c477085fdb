// Is the algorithm the definition: each formulation under the root schedule, on small odd shapes.

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "tests/conv2d_backward/jit.h"
#include "tests/support/print.h"

namespace hk::test {
namespace {

using Relation = Constraint::Relation;

JitAlgorithm with_sizes(const std::string &algorithm, const std::string &name,
                        const std::vector<std::pair<const char *, int>> &sizes) {
    JitAlgorithm result{algorithm + name, {{"algorithm", algorithm}}, {}};
    for (const auto &[field, value] : sizes) {
        result.parameters[std::string("fix_") + field] = std::to_string(value);
        result.where.push_back({field, Relation::equal, value});
    }
    return result;
}

// Sizes that the compiler knows turn arguments into numbers: strides alone, with dilations of their
// own or with a factor in common.
std::vector<JitAlgorithm> algorithms() {
    std::vector<JitAlgorithm> all;
    for (const char *algorithm :
         {"flip_expand", "expand_flip", "flip_expand_sliced", "expand_flip_sliced"}) {
        all.push_back(with_sizes(algorithm, "", {}));
        all.push_back(with_sizes(algorithm, "_s1", {{"stride_x", 1}, {"stride_y", 1}}));
        all.push_back(with_sizes(algorithm, "_s2",
                                 {{"stride_x", 2},
                                  {"stride_y", 2},
                                  {"dilation_x", 1},
                                  {"dilation_y", 1},
                                  {"kernel_w", 3},
                                  {"kernel_h", 3}}));
        all.push_back(with_sizes(algorithm, "_s3_d2", {{"stride_x", 3}, {"dilation_x", 2}}));
        all.push_back(with_sizes(algorithm, "_s2_d2", {{"stride_y", 2}, {"dilation_y", 2}}));
        all.push_back(with_sizes(
            algorithm, "_1x1",
            {{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}, {"stride_x", 1}, {"stride_y", 1}}));
        all.push_back(
            with_sizes(algorithm, "_1x1_s2", {{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}}));
    }
    using Sizes = std::vector<std::pair<const char *, int>>;
    const Sizes s2{{"stride_x", 2}, {"stride_y", 2}, {"dilation_x", 1},   {"dilation_y", 1},
                   {"kernel_w", 5}, {"kernel_h", 5}, {"padding_left", 2}, {"padding_top", 2}};
    all.push_back(with_sizes("flip_expand", "_s2_padded", s2));
    all.push_back(with_sizes("rows", "_s2_padded", s2));
    all.push_back(with_sizes("rows", "", {}));
    // conv2d's.
    const Sizes s1{{"stride_x", 1}, {"stride_y", 1}};
    const auto with = [&](Sizes sizes) {
        sizes.insert(sizes.end(), s1.begin(), s1.end());
        return sizes;
    };
    const Sizes depthwise = with({{"channels_per_group", 1}, {"filters_per_group", 1}});
    all.push_back(with_sizes("packed", "", s1));
    all.push_back(
        with_sizes("packed", "_1x1", with({{"kernel_w", 1}, {"kernel_h", 1}, {"padding", 0}})));
    all.push_back(with_sizes("packed", "_sizes",
                             with({{"channels_per_group", 3},
                                   {"filters_per_group", 5},
                                   {"kernel_w", 3},
                                   {"dilation_x", 2}})));
    all.push_back(
        with_sizes("winograd", "",
                   with({{"kernel_w", 3}, {"kernel_h", 3}, {"dilation_x", 1}, {"dilation_y", 1}})));
    all.push_back(with_sizes("depthwise", "", depthwise));
    all.push_back(with_sizes("depthwise_rows", "", depthwise));
    return all;
}

class Conv2dBackwardDataAlgorithm
    : public testing::TestWithParam<std::tuple<JitAlgorithm, Layout, DataType>> {};

TEST_P(Conv2dBackwardDataAlgorithm, IsTheDefinition) {
    const auto &[algorithm, layout, type] = GetParam();
    const JitConv2dBackward root(Pass::data, algorithm, "root", "", type, layout);
    KernelInfo row{};
    row.algorithm = algorithm.parameters.at("algorithm").c_str();
    for (const Data data : {Data::integers, Data::reals, Data::one_nan, Data::one_infinity}) {
        const auto cases =
            random_cases<BackwardDataCase>(12, {type, layout, data, algorithm.where, 5e4});
        EXPECT_FALSE(cases.empty());
        for (const BackwardDataCase &c : cases) {
            const BackwardOperands operands = backward_operands(c);
            const std::string faults = compare(c, operands, root(c, operands), &row);
            ASSERT_EQ(faults, "") << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, Conv2dBackwardDataAlgorithm,
    testing::Combine(testing::ValuesIn(algorithms()), testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(DataType::f32, DataType::f16, DataType::bf16)),
    [](const auto &info) {
        return std::get<0>(info.param).name + "_" + std::string(name_of(std::get<1>(info.param))) +
               "_" + std::string(name_of(std::get<2>(info.param)));
    });

// Grouped, of real numbers, where a sum in another order would have other bits.
TEST(Conv2dBackwardDataFormulations, GiveTheSameBits) {
    const Constraint grouped{"groups", Relation::at_least, 2};
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        for (const auto &[suffix, schedule] :
             {std::pair{"", "root"}, {"", "buffered_phases"}, {"_sliced", "root"}}) {
            const auto compiled = [&](const std::string &algorithm) {
                return JitConv2dBackward(Pass::data, with_sizes(algorithm + suffix, "", {}),
                                         schedule, "", DataType::f32, layout);
            };
            const JitConv2dBackward first = compiled("flip_expand"),
                                    other = compiled("expand_flip");
            const auto cases = random_cases<BackwardDataCase>(
                40, {DataType::f32, layout, Data::reals, {&grouped, 1}, 5e4});
            EXPECT_FALSE(cases.empty());
            for (const BackwardDataCase &c : cases) {
                const BackwardOperands operands = backward_operands(c);
                const Tensor a = first(c, operands), b = other(c, operands);
                ASSERT_EQ(std::memcmp(a.data<float>(), b.data<float>(), 4 * a.elements()), 0)
                    << to_string(c) << "\nrepeat  " << repeat_command(c.seed);
            }
        }
    }
}

}  // namespace
}  // namespace hk::test
