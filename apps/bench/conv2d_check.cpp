#include "conv2d_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
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

// Calls visit(output index, weight index) for each product of an element of the input's gradient:
// those of the taps that bring an output there.
template<typename Visit>
void for_each_product_of_input(const Conv2dProblem &p, const Place &at, Visit &&visit) {
    const Conv2dOptions &o = p.options;
    const Place output = output_extents(p), weight = weight_extents(p);
    const int64_t filters = p.filters / o.groups, first = at.c / weight.c * filters;
    for (int64_t r = 0; r < p.kernel_height; ++r) {
        const int64_t row = at.y + o.padding.top - r * o.dilation[0];
        if (row < 0 || row % o.stride[0] != 0 || row / o.stride[0] >= output.y) continue;
        for (int64_t s = 0; s < p.kernel_width; ++s) {
            const int64_t column = at.x + o.padding.left - s * o.dilation[1];
            if (column < 0 || column % o.stride[1] != 0) continue;
            if (column / o.stride[1] >= output.x) continue;
            for (int64_t k = first; k < first + filters; ++k) {
                visit(
                    index_of(o.layout, output, {at.n, row / o.stride[0], column / o.stride[1], k}),
                    index_of(o.layout, weight, {k, r, s, at.c % weight.c}));
            }
        }
    }
}

// Calls visit(output index, input index) for each product of an element k, r, s, c of the weight's
// gradient.
template<typename Visit>
void for_each_product_of_weight(const Conv2dProblem &p, const Place &at, Visit &&visit) {
    const Conv2dOptions &o = p.options;
    const Place output = output_extents(p), input = input_extents(p);
    const int64_t depth = p.channels / o.groups;
    const int64_t channel = at.n / (p.filters / o.groups) * depth + at.c;
    for (int64_t n = 0; n < p.batch; ++n) {
        for (int64_t y = 0; y < output.y; ++y) {
            const int64_t row = y * o.stride[0] + at.y * o.dilation[0] - o.padding.top;
            if (row < 0 || row >= p.height) continue;
            for (int64_t x = 0; x < output.x; ++x) {
                const int64_t column = x * o.stride[1] + at.x * o.dilation[1] - o.padding.left;
                if (column < 0 || column >= p.width) continue;
                visit(index_of(o.layout, output, {n, y, x, at.n}),
                      index_of(o.layout, input, {n, row, column, channel}));
            }
        }
    }
}

}  // namespace

Samples::Samples(DataType type, std::string tensor, std::string letters)
    : type_(type), tensor_(std::move(tensor)), letters_(std::move(letters)) {}

void Samples::add(const Place &at, int64_t index, double value, double tolerance) {
    samples_.push_back({at, index, value, tolerance});
}

double Samples::rounding(double value) const {
    const int bits = type_ == DataType::f16 ? 11 : type_ == DataType::bf16 ? 8 : 24;
    return std::ldexp(std::abs(value), -bits);
}

Check Samples::check(const std::byte *values) const {
    double largest = 0, worst = 0;
    Check result;
    for (const Sample &s : samples_) {
        const double got = value_at(values, s.index, type_);
        const double error = std::abs(got - s.value);
        largest = std::max(largest, std::abs(s.value));
        worst = std::max(worst, error);
        if (!(error <= s.tolerance) && result.failure.empty()) {
            std::ostringstream text;
            text << text_of(tensor_, letters_, s.at) << " is " << got << ", must be " << s.value
                 << " within " << s.tolerance;
            result.failure = text.str();
        }
    }
    result.max_error = largest > 0 ? worst / largest : worst;
    return result;
}

Conv2dReference::Conv2dReference(const Conv2dProblem &problem, const std::vector<float> &input,
                                 const std::vector<float> &weight)
    : Samples(problem.type, "output", "nyxk") {
    const Place extents = output_extents(problem);
    const int64_t length = sum_length(problem);
    for (const Place &at : sampled_places(extents, length)) {
        double sum = 0, magnitude = 0;
        for_each_product(problem, at, [&](int64_t i, int64_t j) {
            const double product = double{input[i]} * double{weight[j]};
            sum += product;
            magnitude += std::abs(product);
        });
        const double any_order = static_cast<double>(length + 2) * std::ldexp(magnitude, -24);
        add(at, index_of(problem.options.layout, extents, at), sum, any_order + rounding(sum));
    }
}

GradientReference::GradientReference(const Conv2dProblem &problem, Gradient gradient,
                                     const std::vector<float> &output_gradient,
                                     const std::vector<float> &other)
    : Samples(problem.type, gradient == Gradient::input ? "input_gradient" : "weight_gradient",
              gradient == Gradient::input ? "nyxc" : "krsc") {
    const bool of_input = gradient == Gradient::input;
    const Place extents = of_input ? input_extents(problem) : weight_extents(problem);
    const Place output = output_extents(problem);
    const int64_t length = of_input ? problem.filters / problem.options.groups *
                                          problem.kernel_height * problem.kernel_width
                                    : output.n * output.y * output.x;
    for (const Place &at : sampled_places(extents, length)) {
        double sum = 0;
        const auto add_product = [&](int64_t i, int64_t j) {
            sum += double{output_gradient[i]} * double{other[j]};
        };
        if (of_input) {
            for_each_product_of_input(problem, at, add_product);
        } else {
            for_each_product_of_weight(problem, at, add_product);
        }
        add(at, index_of(problem.options.layout, extents, at), sum, rounding(sum));
    }
}

}  // namespace hk::bench
