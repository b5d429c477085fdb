#include <algorithm>
#include <cmath>
#include <string_view>

#include "tests/conv2d/reference.h"
#include "tests/reference/tolerance.h"

namespace hk::reference {
namespace {

constexpr int64_t kTile = 4;

}  // namespace

bool is_winograd(const KernelInfo *row) {
    return row && row->algorithm == std::string_view("winograd");
}

std::vector<double> magnitudes_of_filters(const Conv2dProblem &p,
                                          const std::vector<double> &weight) {
    const auto filters = static_cast<size_t>(p.filters);
    std::vector<double> result(filters);
    for (size_t i = 0; i < weight.size(); i++) result[i % filters] += std::abs(weight[i]);
    return result;
}

void bound_by_winograd(const Conv2dProblem &p, const std::vector<double> &input,
                       const std::vector<double> &filters, Conv2dResult &result) {
    double largest = 0;
    for (const double value : input) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    const WinogradSum sum = winograd_sum(p.channels / p.options.groups);
    result.terms = sum.terms;
    for (size_t i = 0; i < result.magnitude.size(); i++)
        result.magnitude[i] = sum.growth * largest * filters[i % filters.size()];
}

std::vector<bool> spoilt_by_winograd(const Conv2dProblem &p, const std::vector<double> &input) {
    const Padding &padding = p.options.padding;
    const int64_t h = p.output_height(), w = p.output_width(), groups = p.options.groups;
    std::vector<bool> spoilt(static_cast<size_t>(p.batch * h * w * p.filters));
    for (size_t i = 0; i < input.size(); i++) {
        if (std::isfinite(input[i])) continue;
        const int64_t place = static_cast<int64_t>(i), c = place % p.channels,
                      x = place / p.channels % p.width + padding.left,
                      y = place / p.channels / p.width % p.height + padding.top,
                      n = place / p.channels / p.width / p.height;
        if (x < 0 || y < 0) continue;
        // Outputs of the tiles whose patches of 6x6 hold it.
        const auto first = [](int64_t at) { return std::max<int64_t>(at - 2, 0) / kTile * kTile; };
        const auto end = [](int64_t at, int64_t size) {
            return std::min(size, (at / kTile + 1) * kTile);
        };
        for (int64_t oy = first(y); oy < end(y, h); oy++) {
            for (int64_t ox = first(x); ox < end(x, w); ox++) {
                const int64_t of_group = p.filters / groups, g = c / (p.channels / groups);
                for (int64_t k = g * of_group; k < (g + 1) * of_group; k++)
                    spoilt[static_cast<size_t>(((n * h + oy) * w + ox) * p.filters + k)] = true;
            }
        }
    }
    return spoilt;
}

}  // namespace hk::reference
