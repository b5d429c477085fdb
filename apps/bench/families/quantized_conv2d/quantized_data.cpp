#include "families/quantized_conv2d/quantized_data.h"

#include <cmath>
#include <cstring>
#include <random>

namespace hk::bench {

namespace {

// Without VNNI the baselines add up two products of bytes in 16 bits, which saturate above 63 * 2 *
// 255 (ONNX Runtime's documentation: reduce_range), and oneDNN halves weights beside inputs of s8
// (its documentation: "Nuances of int8 Computations"). So weights are even, and have 7 bits.
constexpr int kMostHalf = 31;

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
    const int64_t length = p.channels / p.options.groups * p.kernel_height * p.kernel_width;
    data.weight.resize(p.filters * length);
    for (int8_t &value : data.weight) {
        value = static_cast<int8_t>(
            2 * (static_cast<int>(random() >> 8) % (2 * kMostHalf + 1) - kMostHalf));
    }
    for (int64_t k = 0; k < p.filters; ++k) {
        data.weight_scales.push_back(0.0013f + 0.00019f * static_cast<float>(k % 8));
    }
    if (size_of(problem.output_type) == 1) {
        const double weight_rms = 0.0021 * 36.4;
        const double deviation = std::sqrt(length) * input_rms * weight_rms;
        const bool is_u8 = problem.output_type == DataType::u8;
        data.output_scale = static_cast<float>(3 * deviation / (is_u8 ? 255 : 127));
        data.output_zero_point = is_u8 ? 0 : 5;
    }
    return data;
}

}  // namespace hk::bench
