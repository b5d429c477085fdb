#include "conv_samples.h"

#include <algorithm>
#include <random>
#include <sstream>

namespace hk::bench {

std::string text_of(const std::string &tensor, const std::string &letters, const Place &at) {
    std::ostringstream text;
    text << tensor << '(' << letters[0] << ' ' << at.n << ", " << letters[1] << ' ' << at.y << ", "
         << letters[2] << ' ' << at.x << ", " << letters[3] << ' ' << at.c << ')';
    return text.str();
}

Place input_extents(const Conv2dProblem &p) { return {p.batch, p.height, p.width, p.channels}; }

Place weight_extents(const Conv2dProblem &p) {
    return {p.filters, p.kernel_height, p.kernel_width, p.channels / p.options.groups};
}

Place output_extents(const Conv2dProblem &p) {
    return {p.batch, p.output_height(), p.output_width(), p.filters};
}

Shape shape_of(Layout layout, const Place &extents) {
    const auto [n, y, x, c] = extents;
    return layout == Layout::nhwc ? Shape{n, y, x, c} : Shape{n, c, y, x};
}

int64_t sum_length(const Conv2dProblem &p) {
    return p.channels / p.options.groups * p.kernel_height * p.kernel_width;
}

std::vector<Place> sampled_places(const Place &extents, int64_t length) {
    const auto [n, y, x, c] = extents;
    const int64_t size = elements(extents);
    std::vector<Place> result;
    if (size == 0) return result;
    constexpr int64_t products = 20'000'000;
    if (size * length <= products) {
        for (int64_t i = 0; i < size; ++i) {
            result.push_back({i / c / x / y, i / c / x % y, i / c % x, i % c});
        }
        return result;
    }
    for (int corner = 0; corner < 8; ++corner) {
        result.push_back(
            {n - 1, corner & 1 ? y - 1 : 0, corner & 2 ? x - 1 : 0, corner & 4 ? c - 1 : 0});
    }
    std::mt19937_64 random(1);
    for (int64_t i = std::clamp<int64_t>(products / length, 500, 4000); i > 0; --i) {
        const auto below = [&](int64_t bound) { return static_cast<int64_t>(random() % bound); };
        const int64_t at_n = below(n), at_y = below(y), at_x = below(x);
        result.push_back({at_n, at_y, at_x, below(c)});
    }
    return result;
}

}  // namespace hk::bench
