// What the library packs a filter into is the definition's, element by element:
// generators/conv2d/conv2d_filter.h, winograd.h.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "conv2d/filter.h"
#include "storage.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

constexpr int64_t kBlock = 16;

struct FilterSizes {
    int64_t filters, height, width, channels, groups;  // of all groups, channels of one
};

// A weight whose values the type holds, and what the library makes of it for an algorithm's rows.
struct Packed {
    Packed(const FilterSizes &sizes, const char *algorithm, Layout layout, DataType type)
        : s(sizes) {
        Random random(sizes.filters);
        const Shape rows{s.filters, s.height, s.width, s.channels},
            planes{s.filters, s.channels, s.height, s.width};
        const Tensor weight =
            host_tensor(layout == Layout::nhwc ? rows : planes, type, reals(random, rows));
        Conv2dProblem problem;
        problem.type = type;
        problem.options.layout = layout;
        problem.options.groups = s.groups;
        problem.channels = s.channels * s.groups;
        problem.filters = s.filters;
        problem.kernel_height = s.height, problem.kernel_width = s.width;
        problem.height = s.height, problem.width = s.width;
        const detail::Conv2dShapes shapes(problem);
        const detail::Conv2dOperands operands =
            detail::conv2d_operands(problem, shapes.input, weight, {}, {}, shapes.output);
        KernelInfo row{};
        row.algorithm = algorithm;
        row.device = DeviceType::cpu;
        const detail::BufferView view = detail::filter_view(row, operands, Filter(weight));
        const Tensor in_order =
            layout == Layout::nhwc ? weight : weight.permute({0, 2, 3, 1}).to(Device::cpu());
        values = reference::read(in_order);
        const detail::Dim &last = view.dims[view.dims.size() - 1];
        const int64_t count = last.extent * last.stride;
        pairs = view.type != DataType::f32;
        filled_up(s.channels + (pairs ? s.channels % 2 : 0));
        const auto *first = static_cast<const float *>(view.storage->memory);
        const auto *bits = static_cast<const uint16_t *>(view.storage->memory);
        for (int64_t i = 0; i < count; i++)
            packed.push_back(pairs ? std::bit_cast<float>(uint32_t{bits[i]} << 16) : first[i]);
    }

    // The definition's weight(c, s, r, k, g), 0 past the last filter of a group, and channel.
    double operator()(int64_t c, int64_t x, int64_t y, int64_t k, int64_t g) const {
        const int64_t of_group = s.filters / s.groups;
        if (k >= of_group || c >= s.channels) return 0;
        const int64_t row = ((g * of_group + k) * s.height + y) * s.width + x;
        return values[static_cast<size_t>(row * s.channels + c)];
    }

    // Past the last one zeros fill up channels to so many.
    Packed &filled_up(int64_t channels) {
        steps = channels / (pairs ? 2 : 1);
        return *this;
    }

    // `expect(c, i, j, k, g, packed)` of each element, whose places inside a filter are i and j.
    template<typename Expect>
    void for_each(int64_t width, int64_t height, const Expect &expect) const {
        const int64_t blocks = (s.filters / s.groups + kBlock - 1) / kBlock;
        const int64_t together = pairs ? 2 : 1;
        ASSERT_EQ(static_cast<int64_t>(packed.size()),
                  together * kBlock * steps * width * height * blocks * s.groups);
        for (size_t at = 0; at < packed.size(); at++) {
            int64_t rest = static_cast<int64_t>(at);
            const auto next = [&rest](int64_t extent) {
                const int64_t index = rest % extent;
                rest /= extent;
                return index;
            };
            const int64_t of_pair = next(together), ki = next(kBlock),
                          c = together * next(steps) + of_pair, i = next(width), j = next(height),
                          ko = next(blocks), g = rest;
            expect(c, i, j, ko * kBlock + ki, g, packed[at]);
        }
    }

    FilterSizes s;
    std::vector<double> values, packed;
    bool pairs = false;  // of channels, in bf16
    int64_t steps = 0;   // channels, or pairs of them
};

class PackedFilter : public testing::TestWithParam<std::tuple<Layout, DataType>> {};

TEST_P(PackedFilter, IsTheDefinition) {
    const auto &[layout, type] = GetParam();
    for (const FilterSizes &sizes : {FilterSizes{1, 1, 1, 1, 1},
                                     {19, 3, 2, 5, 1},
                                     {34, 1, 1, 7, 2},
                                     {48, 1, 5, 17, 3},
                                     {16, 4, 4, 16, 1}}) {
        const Packed packed(sizes, "packed", layout, type);
        packed.for_each(sizes.width, sizes.height,
                        [&](int64_t c, int64_t x, int64_t y, int64_t k, int64_t g, double value) {
                            ASSERT_EQ(value, packed(c, x, y, k, g))
                                << c << " " << x << " " << y << " " << k;
                        });
    }
}

INSTANTIATE_TEST_SUITE_P(All, PackedFilter,
                         testing::Combine(testing::Values(Layout::nhwc, Layout::nchw),
                                          testing::Values(DataType::f32, DataType::f16,
                                                          DataType::bf16)));

// Of products of matrices: whole slices of 32 channels. Of windows these are a row's, columns too.
TEST(FilterOfSlices, IsTheDefinition) {
    const auto rows = conv2d_filter_kernels();
    if (std::ranges::none_of(rows, [](const KernelInfo &row) {
            return row.algorithm == std::string_view("slices");
        }))
        GTEST_SKIP() << "no row has slices";
    for (const FilterSizes &sizes :
         {FilterSizes{19, 3, 2, 16, 1}, {34, 1, 1, 70, 2}, {48, 2, 5, 17, 3}, {16, 2, 2, 64, 1}}) {
        Packed packed(sizes, "slices", Layout::nhwc, DataType::bf16);
        packed.filled_up((sizes.channels + 31) / 32 * 32);
        packed.for_each(sizes.width, sizes.height,
                        [&](int64_t c, int64_t x, int64_t y, int64_t k, int64_t g, double value) {
                            ASSERT_EQ(value, packed(c, x, y, k, g))
                                << c << " " << x << " " << y << " " << k;
                        });
        Packed windows(sizes, "slices_of_windows", Layout::nhwc, DataType::bf16);
        const int64_t all = sizes.channels * sizes.width;
        windows.filled_up((all + 31) / 32 * 32);
        windows.for_each(1, sizes.height,
                         [&](int64_t c, int64_t, int64_t y, int64_t k, int64_t g, double value) {
                             const double expected =
                                 c < all ? packed(c % sizes.channels, c / sizes.channels, y, k, g)
                                         : 0;
                             ASSERT_EQ(value, expected) << c << " " << y << " " << k;
                         });
    }
}

// What interpolation at a point, or past the last at infinity, makes of a filter's line of three.
std::array<double, 3> evaluation(size_t point) {
    const auto &points = reference::kWinogradPoints;
    if (point == points.size()) return {0, 0, 1};
    double product = 1;
    for (size_t other = 0; other < points.size(); other++)
        if (other != point) product *= points[point] - points[other];
    return {1 / product, points[point] / product, points[point] * points[point] / product};
}

// To ten roundings of its terms.
TEST(WinogradFilter, IsTheDefinition) {
    for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
        for (const FilterSizes &sizes :
             {FilterSizes{1, 3, 3, 1, 1}, {19, 3, 3, 5, 1}, {34, 3, 3, 17, 2}, {16, 3, 3, 16, 1}}) {
            const Packed filter(sizes, "winograd", layout, DataType::f32);
            filter.for_each(
                6, 6, [&](int64_t c, int64_t i, int64_t j, int64_t k, int64_t g, double value) {
                    const auto across = evaluation(static_cast<size_t>(i)),
                               down = evaluation(static_cast<size_t>(j));
                    double sum = 0, magnitude = 0;
                    for (int64_t at = 0; at < 9; at++) {
                        const int64_t x = at % 3, y = at / 3;
                        const double term = across[static_cast<size_t>(x)] *
                                            down[static_cast<size_t>(y)] * filter(c, x, y, k, g);
                        sum += term, magnitude += std::abs(term);
                    }
                    ASSERT_NEAR(value, sum, std::ldexp(11, -24) * magnitude)
                        << c << " " << i << " " << j << " " << k;
                });
        }
    }
}

}  // namespace
}  // namespace hk::test
