#include "tests/quantized_conv2d/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/elementwise/reference.h"
#include "tests/reference/elements.h"

namespace hk::reference {
namespace {

std::vector<double> minus(std::vector<double> values, int32_t zero_point) {
    for (double &value : values) {
        value -= zero_point;
    }
    return values;
}

// A bias as real numbers, f32; zero where it is undefined or has the scale of the products.
std::vector<float> real_bias(const QuantizedTensor &bias, int64_t filters) {
    std::vector<float> real(static_cast<size_t>(filters), 0.f);
    if (!bias.values.defined()) {
        return real;
    }
    const bool quantized = bias.quantization.defined();
    if (!quantized && bias.values.type() != DataType::f32) {
        return real;
    }
    const std::vector<double> values = read(bias.values);
    const std::vector<float> scales = scales_of(bias.quantization, filters);
    for (size_t k = 0; k < real.size(); k++) {
        real[k] = static_cast<float>(values[k] - bias.quantization.zero_point());
        if (quantized) {
            real[k] *= scales[k];
        }
    }
    return real;
}

void add_sum_bias(const QuantizedTensor &bias, int64_t filters, Conv2dResult &sum) {
    if (!bias.values.defined() || bias.values.type() != DataType::s32 ||
        bias.quantization.defined()) {
        return;
    }
    const std::vector<double> values = read(bias.values);
    for (size_t i = 0; i < sum.value.size(); i++) {
        sum.value[i] += values[i % static_cast<size_t>(filters)];
        sum.magnitude[i] += std::abs(values[i % static_cast<size_t>(filters)]);
    }
}

// The activation in units of the output's scale.
ActivationOptions in_units(ActivationOptions options, float scale) {
    if (options.activation == Activation::clamp) {
        options.alpha /= scale;
        options.beta /= scale;
    }
    return options;
}

float activate_f32(float value, const ActivationOptions &options) {
    return static_cast<float>(activate(value, options));
}

}  // namespace

std::vector<float> scales_of(const Quantization &quantization, int64_t count) {
    if (!quantization.per_channel()) {
        return std::vector<float>(static_cast<size_t>(count),
                                  quantization.defined() ? quantization.scale() : 1.f);
    }
    const std::vector<double> scales = read(quantization.scales().to(Device::cpu()));
    return {scales.begin(), scales.end()};
}

double stored(double v, DataType type, int32_t zero_point) {
    const double least = type == DataType::u8 ? 0 : -128, most = least + 255;
    return std::clamp(std::nearbyint(v) + zero_point, least, most);
}

double wrapped(double sum) {
    return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sum)));
}

QuantizedConv2dResult quantized_conv2d(const QuantizedTensor &input, const QuantizedTensor &weight,
                                       const QuantizedTensor &bias, const Quantization &output,
                                       const Conv2dOptions &options, const Rows &rows) {
    const Tensor &x = input.values, &w = weight.values;
    // For the sizes: those of f32 are all right for any type.
    const Conv2dProblem p =
        Conv2dProblem::from_shapes(x.shape(), w.shape(), DataType::f32, options);
    QuantizedConv2dResult result;
    result.sum = conv2d_sums(
        p, minus(read(channels_last(x, options.layout)), input.quantization.zero_point()),
        minus(read_filters(w, options.layout), weight.quantization.zero_point()), rows);
    add_sum_bias(bias, p.filters, result.sum);

    const std::vector<float> weight_scales = scales_of(weight.quantization, p.filters);
    const std::vector<float> biases = real_bias(bias, p.filters);
    const float input_scale = scales_of(input.quantization, 1)[0];
    const float output_scale = scales_of(output, 1)[0];
    const ActivationOptions activation = in_units(activation_in(options), output_scale);
    for (size_t i = 0; i < result.sum.value.size(); i++) {
        const size_t k = i % static_cast<size_t>(p.filters);
        const double scale = static_cast<double>(input_scale) * weight_scales[k] / output_scale;
        const double exact_offset = static_cast<double>(biases[k]) / output_scale;
        result.value.push_back(activate(result.sum.value[i] * scale + exact_offset, activation));
        result.magnitude.push_back(result.sum.magnitude[i] * scale + std::abs(exact_offset));

        const float multiplier = input_scale * weight_scales[k] / output_scale;
        const float offset = biases[k] / output_scale;
        const auto sum = static_cast<float>(result.sum.value[i]);
        const float product = sum * multiplier;
        result.separate.push_back(activate_f32(product + offset, activation));
        result.fused.push_back(activate_f32(std::fma(sum, multiplier, offset), activation));
    }
    return result;
}

}  // namespace hk::reference
