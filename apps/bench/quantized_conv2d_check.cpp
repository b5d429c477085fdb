#include "quantized_conv2d_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

namespace hk::bench {

namespace {

template<typename T>
T element(const std::byte *data, int64_t index) {
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
}

double value_at(const std::byte *data, int64_t index, DataType type) {
    switch (type) {
        case DataType::u8:
            return element<uint8_t>(data, index);
        case DataType::s8:
            return element<int8_t>(data, index);
        case DataType::s32:
            return element<int32_t>(data, index);
        default:
            return element<float>(data, index);
    }
}

bool is_byte(DataType type) { return size_of(type) == 1; }

double scale_of_result(const QuantizedConv2dData &data, int64_t k) {
    if (data.problem.output_type == DataType::s32) return 1;
    return double{data.input_scale} * data.weight_scales[k] / data.output_scale;
}

}  // namespace

std::vector<float> QuantizedConv2dData::dequantized_weight() const {
    std::vector<float> result(weight.size());
    const size_t per_filter = weight.size() / weight_scales.size();
    for (size_t i = 0; i < weight.size(); ++i) {
        result[i] = weight_scales[i / per_filter] * static_cast<float>(weight[i]);
    }
    return result;
}

QuantizedConv2dData random_quantized_conv2d(const QuantizedConv2dProblem &problem) {
    const Conv2dProblem &p = problem.conv;
    QuantizedConv2dData data;
    data.problem = problem;
    std::mt19937 random(1);
    const int64_t inputs = p.batch * p.channels * p.height * p.width;
    data.input.resize(inputs * size_of(p.type));
    double input_rms = 1 / std::sqrt(3.0);
    if (data.integer()) {
        for (std::byte &value : data.input) value = static_cast<std::byte>(random() >> 24);
        data.input_scale = 0.0173f;
        data.input_zero_point = p.type == DataType::u8 ? 0 : -7;
        input_rms = data.input_scale * (p.type == DataType::u8 ? 147.6 : 74.2);
    } else {
        for (int64_t i = 0; i < inputs; ++i) {
            const float value = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f;
            std::memcpy(&data.input[4 * i], &value, 4);
        }
    }
    data.weight.resize(p.filters * sum_length(p));
    for (int8_t &value : data.weight) {
        value = static_cast<int8_t>(static_cast<int>(random() >> 8) % 255 - 127);
    }
    for (int64_t k = 0; k < p.filters; ++k) {
        data.weight_scales.push_back(0.0013f + 0.00019f * static_cast<float>(k % 8));
    }
    if (is_byte(problem.output_type)) {
        const double weight_rms = 0.0021 * 73.6;
        const double deviation = std::sqrt(sum_length(p)) * input_rms * weight_rms;
        const bool is_u8 = problem.output_type == DataType::u8;
        data.output_scale = static_cast<float>(3 * deviation / (is_u8 ? 255 : 127));
        data.output_zero_point = is_u8 ? 0 : 5;
    }
    return data;
}

QuantizedConv2dReference::QuantizedConv2dReference(const QuantizedConv2dData &data)
    : problem_(data.problem), output_zero_point_(data.output_zero_point) {
    const Conv2dProblem &p = problem_.conv;
    const double length = static_cast<double>(sum_length(p));
    for (const Place &at : sampled_places(output_extents(p), sum_length(p))) {
        double sum = 0, magnitude = 0;
        for_each_product(p, at, [&](int64_t i, int64_t j) {
            const double input =
                value_at(data.input.data(), i, p.type) - double(data.input_zero_point);
            // Integers: sums below 2^53 are exact in double.
            sum += input * data.weight[j];
            magnitude += std::abs(input * data.weight[j]);
        });
        const double scale = scale_of_result(data, at.c);
        double slack = std::ldexp(8 * std::abs(sum * scale), -24);
        if (!data.integer()) slack += std::ldexp((length + 4) * magnitude * scale, -24);
        samples_.push_back({at, sum * scale, slack});
    }
}

double QuantizedConv2dReference::error_of(double got, const Sample &sample,
                                          double &tolerance) const {
    const DataType type = problem_.output_type;
    tolerance = type == DataType::s32 ? 0 : sample.slack;
    if (!is_byte(type)) return std::abs(got - sample.value);
    tolerance += 0.5;
    const double least = type == DataType::u8 ? 0 : -128, most = type == DataType::u8 ? 255 : 127;
    return std::abs(got - std::clamp(sample.value + output_zero_point_, least, most));
}

Check QuantizedConv2dReference::check(const std::byte *output) const {
    double largest = 0, worst = 0;
    Check result;
    for (const Sample &s : samples_) {
        const int64_t index =
            index_of(problem_.conv.options.layout, output_extents(problem_.conv), s.at);
        const double got = value_at(output, index, problem_.output_type);
        double tolerance;
        const double error = error_of(got, s, tolerance);
        largest = std::max(largest, std::abs(s.value));
        // Of bytes, what goes beyond the rounding that they need.
        worst = std::max(worst, is_byte(problem_.output_type) ? error - 0.5 : error);
        if (!(error <= tolerance) && result.failure.empty()) {
            std::ostringstream text;
            text << text_of("output", "nyxk", s.at) << " is " << got << ", must be " << s.value
                 << " + " << output_zero_point_ << " within " << tolerance;
            result.failure = text.str();
        }
    }
    result.max_error = largest > 0 ? worst / largest : worst;
    return result;
}

}  // namespace hk::bench
