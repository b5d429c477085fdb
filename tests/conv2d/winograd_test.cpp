// Winograd's convolution beside the definition: its error on what makes it large, that every term
// counts once, and who gets it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hk/conv2d.h"
#include "tests/conv2d/reference.h"
#include "tests/reference/elements.h"
#include "tests/reference/tolerance.h"
#include "tests/support/conditions.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// The first of each function: later ones take fewer images.
std::vector<const KernelInfo *> rows() {
    std::vector<const KernelInfo *> result;
    for (const KernelInfo &row : conv2d_kernels())
        if (reference::is_winograd(&row) && !is_of_another_cpu(row) &&
            std::ranges::none_of(result, [&](const auto *of) { return of->call == row.call; }))
            result.push_back(&row);
    return result;
}

Conv2dOptions same(Layout layout) {
    Conv2dOptions options;
    options.layout = layout;
    options.padding = {1, 1, 1, 1};
    return options;
}

Shape image(Layout layout, int64_t y, int64_t x, int64_t c) {
    return layout == Layout::nhwc ? Shape{1, y, x, c} : Shape{1, c, y, x};
}

Shape filters(Layout layout, int64_t k, int64_t c) {
    return layout == Layout::nhwc ? Shape{k, 3, 3, c} : Shape{k, c, 3, 3};
}

// The largest error, as a part of its bound.
double worst(const KernelInfo &row, const Tensor &input, const Tensor &weight) {
    const Conv2dOptions options = same(row.layout);
    const auto expected = reference::conv2d(input, weight, {}, {}, options, &row);
    const Conv2dProblem p =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), row.type, options);
    const Tensor output(p.output_shape(), row.type);
    conv2d_with(row, input, weight, {}, {}, output, options);
    const auto got = reference::read(reference::channels_last(output, row.layout));
    double result = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const double bound = reference::tolerance(row.type, expected.terms, expected.value[i],
                                                  expected.magnitude[i]);
        result = std::max(result, std::abs(got[i] - expected.value[i]) / bound);
    }
    return result;
}

enum class Kind { reals, signs, ones, one_tap, cancelling, wide, last };

std::vector<double> draw(Random &random, const Shape &shape, Kind kind, bool weight) {
    std::vector<double> values = reals(random, shape);
    for (size_t i = 0; i < values.size(); i++) {
        double &value = values[i];
        const double sign = value < 0 ? -1 : 1;
        if (kind == Kind::signs) value = sign;
        if (kind == Kind::ones) value = weight ? std::abs(value) : 1;
        if (kind == Kind::one_tap) value = weight && uniform(random, 0, 8) ? 0 : sign;
        // Neighbours of opposite sign: the transforms add up what the definition takes away.
        if (kind == Kind::cancelling) value = (i % 2 ? -1 : 1) * (1 + value / 1024);
        if (kind == Kind::wide) value = std::ldexp(value, static_cast<int>(uniform(random, 0, 20)));
        value = reference::rounded(DataType::f32, value);
    }
    return values;
}

TEST(Winograd, ErrorsAreWithinTheirBound) {
    ASSERT_FALSE(rows().empty());
    double largest = 0;
    for (const KernelInfo *row : rows()) {
        for (const uint64_t seed : seeds(120)) {
            Random random(seed);
            const auto kind = static_cast<Kind>(seed % static_cast<uint64_t>(Kind::last));
            const int64_t c = pick(random, std::vector<int64_t>{16, 17, 40, 128}),
                          y = uniform(random, 17, 22), x = uniform(random, 15, 20);
            const Shape of_input = image(row->layout, y, x, c),
                        of_weight = filters(row->layout, 28, c);
            const double part =
                worst(*row, host_tensor(of_input, row->type, draw(random, of_input, kind, false)),
                      host_tensor(of_weight, row->type, draw(random, of_weight, kind, true)));
            EXPECT_LE(part, 1) << row->name << " " << repeat_command(seed);
            largest = std::max(largest, part);
        }
    }
    std::printf("largest error: %.4f of its bound\n", largest);
    // A bound that no error comes near says nothing.
    EXPECT_GE(largest, std::getenv("HK_SEED") ? 0 : 1e-3);
}

// One element of the input and one of the filter: a bound of the size of rounding finds a term that
// is missing, doubled or elsewhere.
TEST(Winograd, EveryTermCountsOnce) {
    for (const KernelInfo *row : rows()) {
        for (const uint64_t seed : seeds(200)) {
            Random random(seed);
            const int64_t c = uniform(random, 16, 40), k = uniform(random, 25, 50),
                          y = uniform(random, 16, 20), x = uniform(random, 16, 20);
            const Shape of_input = image(row->layout, y, x, c),
                        of_weight = filters(row->layout, k, c);
            std::vector<double> input(static_cast<size_t>(y * x * c)),
                weight(static_cast<size_t>(k * 9 * c));
            // In one channel of all pixels and filters, or they would not meet.
            const int64_t channel = uniform(random, 0, c - 1);
            const bool nhwc = row->layout == Layout::nhwc;
            const auto place = [&](int64_t outer, int64_t pixel, int64_t pixels) {
                return static_cast<size_t>(nhwc ? (outer * pixels + pixel) * c + channel
                                                : (outer * c + channel) * pixels + pixel);
            };
            input[place(0, uniform(random, 0, y * x - 1), y * x)] = 1;
            for (int64_t filter = 0; filter < k; filter++)
                weight[place(filter, uniform(random, 0, 8), 9)] = 1;
            EXPECT_LE(worst(*row, host_tensor(of_input, row->type, input),
                            host_tensor(of_weight, row->type, weight)),
                      1)
                << row->name << " " << repeat_command(seed);
        }
    }
    EXPECT_LT(reference::tolerance(DataType::f32, reference::winograd_sum(40).terms, 1,
                                   reference::winograd_sum(40).growth),
              1e-3);
}

TEST(Winograd, IsForWhomItIsFaster) {
    Conv2dProblem problem;
    problem.channels = problem.filters = 64;
    problem.height = problem.width = 28;
    problem.kernel_height = problem.kernel_width = 3;
    problem.options.padding = {1, 1, 1, 1};
    const DeviceLimits limits = Device::cpu().limits();
    const auto taken = [&] {
        return reference::is_winograd(select_conv2d(problem, DeviceType::cpu, limits).kernel);
    };
    EXPECT_TRUE(taken());
    problem.options.direct = true;
    EXPECT_FALSE(taken());
    problem.options.direct = false;
    problem.height = problem.width = 7;
    EXPECT_FALSE(taken());
    problem.prepared_filter = true;
    EXPECT_TRUE(taken());
    problem.channels = 8;
    EXPECT_FALSE(taken());
}

}  // namespace
}  // namespace hk::test
