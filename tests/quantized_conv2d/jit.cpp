#include "tests/quantized_conv2d/jit.h"

#include <algorithm>

#include "tests/support/placed.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

// The same bytes as elements of another type, in one dimension.
Tensor bytes_as(const Tensor &tensor, DataType type) {
    const int64_t bytes = tensor.elements() * size_of(tensor.type());
    void *data = size_of(tensor.type()) == 1 ? static_cast<void *>(tensor.data<uint8_t>())
                                             : tensor.data<uint32_t>();
    return Tensor::borrow(data, type, {bytes / size_of(type)});
}

// A scale as the generator takes it: a number, or a vector and the number 0.
struct Scale {
    Tensor vector;
    float for_all;
};

Scale scale_of(const Quantization &quantization, int64_t filters) {
    if (quantization.per_channel()) {
        return {quantization.scales(), 0};
    }
    return {filled({filters}, DataType::f32, {}),
            quantization.defined() ? quantization.scale() : 1};
}

// The activation in units of the output's scale, within what bytes can store.
JitActivation activation_of(const QuantizedConv2dCase &c) {
    JitActivation a = jit_activation(c.problem.options);
    a.low /= c.output_scale;
    a.high /= c.output_scale;
    if (c.requantized()) {
        const auto least =
            static_cast<float>((c.output_type == DataType::u8 ? 0 : -128) - c.output_zero_point);
        a.low = std::clamp(a.low, least, least + 255);
        a.high = std::clamp(a.high, least, least + 255);
    }
    return a;
}

}  // namespace

JitQuantizedConv2d::JitQuantizedConv2d(const JitAlgorithm &algorithm, const std::string &schedule,
                                       const std::string &knobs, DataType type, Layout layout)
    : function_(jit_compile("quantized_conv2d", algorithm, schedule, knobs, type, layout)) {}

Tensor JitQuantizedConv2d::operator()(const QuantizedConv2dCase &c,
                                      const QuantizedHostTensors &tensors) const {
    const Conv2dProblem &p = c.problem;
    const Conv2dOptions &options = p.options;
    const int64_t groups = options.groups, filters = p.filters / groups;
    const auto flip = [](DataType type) { return type == DataType::s8 ? 128 : 0; };
    const int in_flip = flip(p.type), out_flip = flip(c.output_type);
    const Tensor output = filled(p.output_shape(), c.output_type, {});
    const Tensor bias =
        tensors.bias.values.defined() ? tensors.bias.values : filled({p.filters}, DataType::s8, {});
    const Scale scale = scale_of(tensors.weight.quantization, p.filters);
    const Scale bias_scale = scale_of(tensors.bias.quantization, p.filters);
    const JitActivation a = activation_of(c);
    const std::vector<int64_t> per_filter{filters, groups};
    auto in = buffer_of(bytes_as(tensors.input.values, in_flip ? DataType::u8 : p.type),
                        image_extents(p, p.channels / groups, p.width, p.height));
    auto weight = buffer_of(tensors.weight.values, filter_extents(p));
    auto scales = buffer_of(scale.vector, per_filter);
    auto offset = buffer_of(bytes_as(bias, DataType::s8), {size_of(bias.type()), filters, groups});
    auto offset_scales = buffer_of(bias_scale.vector, per_filter);
    auto out = buffer_of(bytes_as(output, c.requantized() ? DataType::u8 : DataType::f32),
                         image_extents(p, filters, p.output_width(), p.output_height()));
    const auto narrow = [](int64_t value) { return static_cast<int32_t>(value); };
    jit_call(function_, to_string(c), in, weight, scales, offset, offset_scales,
             narrow(options.stride[1]), narrow(options.stride[0]), narrow(options.dilation[1]),
             narrow(options.dilation[0]), narrow(options.padding.left), narrow(options.padding.top),
             in_flip, c.input_scale, c.input_zero_point + in_flip, scale.for_all,
             c.weight_zero_point, static_cast<int32_t>(c.bias), bias_scale.for_all,
             c.bias_zero_point, c.output_scale, out_flip, c.output_zero_point + out_flip,
             c.output_type == DataType::s32, a.slope, a.low, a.high, out);
    return output;
}

}  // namespace hk::test
