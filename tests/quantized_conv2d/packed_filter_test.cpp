// What the library packs a quantised filter into is the definition's, byte by byte:
// generators/quantized_conv2d/quantized_conv2d_filter.h. And what a prepared one keeps.

#include <gtest/gtest.h>

#include <tuple>

#include "hk/error.h"
#include "hk/quantized_conv2d.h"
#include "quantized_conv2d/filter.h"
#include "storage.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr int64_t kBlock = 16, kWord = 4;

struct Sizes {
    int64_t filters, height, width, channels, groups;  // of all groups, channels of one
};

Conv2dProblem problem_of(const Sizes &s, Layout layout) {
    Conv2dProblem problem;
    problem.type = DataType::u8;
    problem.options.layout = layout;
    problem.options.groups = s.groups;
    problem.channels = s.channels * s.groups;
    problem.filters = s.filters;
    problem.kernel_height = s.height, problem.kernel_width = s.width;
    problem.height = s.height, problem.width = s.width;
    return problem;
}

class PackedWords : public testing::TestWithParam<std::tuple<Layout, Sizes>> {};

TEST_P(PackedWords, AreTheDefinition) {
    const auto &[layout, s] = GetParam();
    Random random(s.filters);
    const Shape rows{s.filters, s.height, s.width, s.channels},
        planes{s.filters, s.channels, s.height, s.width};
    const Tensor weight = host_tensor(layout == Layout::nhwc ? rows : planes, DataType::s8,
                                      whole_numbers(random, rows, -128, 127));
    const Conv2dProblem problem = problem_of(s, layout);
    const detail::Conv2dShapes shapes(problem);
    KernelInfo row{};
    row.algorithm = "packed";
    const detail::BufferView view = detail::quantized_filter_view(
        row, detail::conv2d_operands(problem, shapes.input, weight, {}, {}, shapes.output),
        Filter(weight));
    const std::vector<double> values = reference::read(
        layout == Layout::nhwc ? weight : weight.permute({0, 2, 3, 1}).to(Device::cpu()));
    const auto *packed = static_cast<const int8_t *>(view.storage->memory);
    const int64_t of_group = s.filters / s.groups, blocks = (of_group + kBlock - 1) / kBlock,
                  words = (s.channels + kWord - 1) / kWord;
    int64_t at = 0;
    for (int64_t g = 0; g < s.groups; g++)
        for (int64_t ko = 0; ko < blocks; ko++)
            for (int64_t y = 0; y < s.height; y++)
                for (int64_t x = 0; x < s.width; x++)
                    for (int64_t w = 0; w < words; w++)
                        for (int64_t byte = 0; byte < kBlock * kWord; byte++, at++) {
                            const int64_t k = ko * kBlock + byte / kWord,
                                          c = w * kWord + byte % kWord;
                            const bool filled = k >= of_group || c >= s.channels;
                            const int64_t place =
                                (((g * of_group + k) * s.height + y) * s.width + x) * s.channels +
                                c;
                            ASSERT_EQ(packed[at], filled ? 0 : values[static_cast<size_t>(place)])
                                << g << " " << k << " " << y << " " << x << " " << c;
                        }
    const detail::Dim &last = view.dims[view.dims.size() - 1];
    EXPECT_EQ(at, last.extent * last.stride);
}

INSTANTIATE_TEST_SUITE_P(
    All, PackedWords,
    testing::Combine(testing::Values(Layout::nhwc, Layout::nchw),
                     testing::Values(Sizes{1, 1, 1, 1, 1}, Sizes{19, 3, 2, 5, 1},
                                     Sizes{34, 1, 1, 7, 2}, Sizes{48, 1, 5, 70, 3},
                                     Sizes{16, 4, 4, 16, 1}, Sizes{40, 1, 1, 130, 1})));

TEST(PreparedQuantizedFilter, KeepsWhatTheFirstCallMakes) {
    Random random(7);
    const QuantizedTensor input(
        host_tensor({1, 9, 9, 20}, DataType::u8, whole_numbers(random, {1, 9, 9, 20}, 0, 255)),
        Quantization(0.5f, 3));
    const QuantizedTensor weight(
        host_tensor({24, 3, 3, 20}, DataType::s8, whole_numbers(random, {24, 3, 3, 20}, -9, 9)),
        Quantization(0.25f));
    const QuantizedFilter filter = prepare_filter(weight);
    EXPECT_TRUE(filter.values.is_prepared());
    EXPECT_FALSE(QuantizedFilter(weight).values.is_prepared());
    EXPECT_EQ(filter.values.bytes(), 0u);
    const auto sums = [&](const QuantizedFilter &of) {
        return reference::read(quantized_conv2d(input, of, {}, DataType::s32).values);
    };
    const std::vector<double> plain = sums(weight);
    EXPECT_EQ(sums(filter), plain);
    EXPECT_EQ(sums(filter), plain);
    if (!quantized_conv2d_filter_kernels().empty()) {
        EXPECT_EQ(filter.values.bytes(), 32u * 9 * 20);
    }
}

TEST(PreparedQuantizedFilter, IsCheckedAsAPlainOne) {
    const QuantizedTensor input(Tensor({1, 9, 9, 4}, DataType::u8), Quantization(0.5f));
    const QuantizedTensor other(Tensor({8, 3, 3, 5}, DataType::s8), Quantization(0.25f));
    EXPECT_THROW(quantized_conv2d(input, prepare_filter(other)), InvalidArgument);
    EXPECT_THROW(quantized_conv2d(
                     input, prepare_filter(QuantizedTensor(Tensor({8, 3, 3, 4}, DataType::s8)))),
                 InvalidArgument);
}

}  // namespace
}  // namespace hk::test
