#include "tests/conv2d/packed_filter.h"

#include <array>
#include <cmath>

#include "tests/reference/tolerance.h"

namespace hk::test {
namespace {

// What a point makes of the three of a filter's line.
std::array<double, 3> evaluation(size_t point) {
    const auto &points = reference::kWinogradPoints;
    if (point == points.size()) return {0, 0, 1};
    double product = 1;
    for (size_t q = 0; q < points.size(); q++)
        if (q != point) product *= points[point] - points[q];
    return {1 / product, points[point] / product, points[point] * points[point] / product};
}

}  // namespace

Halide::Buffer<float> packed_filter(const Conv2dProblem &p, const std::vector<double> &weight) {
    constexpr int block = 16;
    const auto narrow = [](int64_t value) { return static_cast<int>(value); };
    const int64_t filters = p.filters / p.options.groups, channels = p.channels / p.options.groups,
                  width = p.kernel_width, height = p.kernel_height;
    const bool nhwc = p.options.layout == Layout::nhwc;
    Halide::Buffer<float> packed(
        std::vector<int>{block, narrow(channels), narrow(width), narrow(height),
                         narrow((filters + block - 1) / block), narrow(p.options.groups)});
    packed.for_each_element([&](const int *at) {
        const int64_t k = at[4] * block + at[0], row = at[5] * filters + k;
        const int64_t c = at[1], s = at[2], r = at[3];
        const int64_t index = nhwc ? ((row * height + r) * width + s) * channels + c
                                   : ((row * channels + c) * height + r) * width + s;
        packed(at) = k < filters ? static_cast<float>(weight[static_cast<size_t>(index)]) : 0.f;
    });
    return packed;
}

WinogradFilter winograd_filter(const Conv2dProblem &p, const std::vector<double> &weight) {
    const Halide::Buffer<float> packed = packed_filter(p, weight);
    std::vector<int> extents;
    for (int d = 0; d < packed.dimensions(); d++) extents.push_back(packed.dim(d).extent());
    extents[2] = extents[3] = 6;
    WinogradFilter result{Halide::Buffer<float>(extents), Halide::Buffer<float>(extents)};
    result.value.for_each_element([&](const int *at) {
        const auto across = evaluation(static_cast<size_t>(at[2])),
                   down = evaluation(static_cast<size_t>(at[3]));
        double sum = 0, magnitude = 0;
        for (int s = 0; s < 3; s++) {
            for (int r = 0; r < 3; r++) {
                const double term = across[static_cast<size_t>(s)] * down[static_cast<size_t>(r)] *
                                    static_cast<double>(packed(at[0], at[1], s, r, at[4], at[5]));
                sum += term;
                magnitude += std::abs(term);
            }
        }
        result.value(at) = static_cast<float>(sum);
        result.bound(at) = static_cast<float>(std::ldexp(11, -24) * magnitude);
    });
    return result;
}

}  // namespace hk::test
