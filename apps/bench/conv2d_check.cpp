#include "conv2d_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

namespace hk::bench {

namespace {

float value_at(const std::byte *data, int64_t index, DataType type) {
    if (type == DataType::f32) {
        float value;
        std::memcpy(&value, data + 4 * index, 4);
        return value;
    }
    uint16_t bits;
    std::memcpy(&bits, data + 2 * index, 2);
    return type == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
}

double unit_roundoff(DataType type) {
    switch (type) {
        case DataType::f16:
            return std::ldexp(1.0, -11);
        case DataType::bf16:
            return std::ldexp(1.0, -8);
        default:
            return std::ldexp(1.0, -24);
    }
}

// Place of an element of an activation tensor.
int64_t place(Layout layout, int64_t n, int64_t y, int64_t x, int64_t c, int64_t height,
              int64_t width, int64_t channels) {
    if (layout == Layout::nhwc) return ((n * height + y) * width + x) * channels + c;
    return ((n * channels + c) * height + y) * width + x;
}

}  // namespace

Conv2dReference::Conv2dReference(const Conv2dProblem &problem, const std::vector<float> &input,
                                 const std::vector<float> &weight)
    : problem_(problem) {
    const Conv2dProblem &p = problem_;
    const int64_t height = p.output_height(), width = p.output_width();
    length_ = p.channels / p.options.groups * p.kernel_height * p.kernel_width;
    const int64_t outputs = p.batch * height * width * p.filters;
    if (outputs == 0) return;
    constexpr int64_t products = 20'000'000;
    if (outputs * length_ <= products) {
        for (int64_t i = 0; i < outputs; ++i) {
            add(i / p.filters / width / height, i / p.filters / width % height,
                i / p.filters % width, i % p.filters, input, weight);
        }
        return;
    }
    // The corners see padding and tails, for the first and the last filter.
    for (int corner = 0; corner < 8; ++corner) {
        add(p.batch - 1, corner & 1 ? height - 1 : 0, corner & 2 ? width - 1 : 0,
            corner & 4 ? p.filters - 1 : 0, input, weight);
    }
    std::mt19937_64 random(1);
    for (int64_t i = std::clamp<int64_t>(products / length_, 500, 4000); i > 0; --i) {
        const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
        const int64_t n = below(p.batch), y = below(height), x = below(width);
        add(n, y, x, below(p.filters), input, weight);
    }
}

void Conv2dReference::add(int64_t n, int64_t y, int64_t x, int64_t k,
                          const std::vector<float> &input, const std::vector<float> &weight) {
    const Conv2dProblem &p = problem_;
    const Conv2dOptions &o = p.options;
    const int64_t depth = p.channels / o.groups;
    const int64_t first_channel = k / (p.filters / o.groups) * depth;
    double sum = 0, magnitude = 0;
    for (int64_t r = 0; r < p.kernel_height; ++r) {
        const int64_t row = y * o.stride[0] + r * o.dilation[0] - o.padding.top;
        if (row < 0 || row >= p.height) continue;
        for (int64_t s = 0; s < p.kernel_width; ++s) {
            const int64_t column = x * o.stride[1] + s * o.dilation[1] - o.padding.left;
            if (column < 0 || column >= p.width) continue;
            for (int64_t c = 0; c < depth; ++c) {
                // Filters are laid out as images of their own: [K, R, S, C/G] or [K, C/G, R, S].
                const double w =
                    weight[place(o.layout, k, r, s, c, p.kernel_height, p.kernel_width, depth)];
                const double v = input[place(o.layout, n, row, column, first_channel + c, p.height,
                                             p.width, p.channels)];
                sum += w * v;
                magnitude += std::abs(w * v);
            }
        }
    }
    samples_.push_back({n, y, x, k, sum, magnitude});
}

Check Conv2dReference::check(const std::byte *output) const {
    const Conv2dProblem &p = problem_;
    double largest = 0, worst = 0;
    Check result;
    for (const Sample &s : samples_) {
        const int64_t index = place(p.options.layout, s.n, s.y, s.x, s.k, p.output_height(),
                                    p.output_width(), p.filters);
        const double got = value_at(output, index, p.type);
        const double error = std::abs(got - s.value);
        const double tolerance = (length_ + 2) * std::ldexp(s.magnitude, -24) +
                                 unit_roundoff(p.type) * std::abs(s.value);
        largest = std::max(largest, std::abs(s.value));
        worst = std::max(worst, error);
        if (!(error <= tolerance) && result.failure.empty()) {
            std::ostringstream text;
            text << "output(n " << s.n << ", y " << s.y << ", x " << s.x << ", k " << s.k << ") is "
                 << got << ", must be " << s.value << " within " << tolerance;
            result.failure = text.str();
        }
    }
    result.max_error = largest > 0 ? worst / largest : worst;
    return result;
}

}  // namespace hk::bench
