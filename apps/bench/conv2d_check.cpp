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

}  // namespace

Conv2dReference::Conv2dReference(const Conv2dProblem &problem, const std::vector<float> &input,
                                 const std::vector<float> &weight)
    : problem_(problem) {
    for (const OutputPlace &at : sampled_outputs(problem)) {
        double sum = 0, magnitude = 0;
        for_each_product(problem, at, [&](int64_t i, int64_t j) {
            const double product = double{input[i]} * double{weight[j]};
            sum += product;
            magnitude += std::abs(product);
        });
        samples_.push_back({at, sum, magnitude});
    }
}

Check Conv2dReference::check(const std::byte *output) const {
    const Conv2dProblem &p = problem_;
    const double length = static_cast<double>(sum_length(p));
    double largest = 0, worst = 0;
    Check result;
    for (const Sample &s : samples_) {
        const double got = value_at(output, output_index(p, s.at), p.type);
        const double error = std::abs(got - s.value);
        const double tolerance =
            (length + 2) * std::ldexp(s.magnitude, -24) + unit_roundoff(p.type) * std::abs(s.value);
        largest = std::max(largest, std::abs(s.value));
        worst = std::max(worst, error);
        if (!(error <= tolerance) && result.failure.empty()) {
            std::ostringstream text;
            text << s.at << " is " << got << ", must be " << s.value << " within " << tolerance;
            result.failure = text.str();
        }
    }
    result.max_error = largest > 0 ? worst / largest : worst;
    return result;
}

}  // namespace hk::bench
