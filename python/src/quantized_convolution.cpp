#include <nanobind/nanobind.h>

#include "call.h"
#include "convolution_arguments.h"
#include "hk/error.h"
#include "hk/quantized_conv2d.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

// The quantisation that a scale, or an array of one a filter, and a zero point say.
Quantization quantization(Call &call, Scales scale, int64_t zero_point, const char *name) {
    if (zero_point < INT32_MIN || zero_point > INT32_MAX) {
        throw InvalidArgument(std::string(call.operation()) + ": zero point of " + name + " is " +
                              std::to_string(zero_point) + ", more than 32 bits");
    }
    const auto zero = static_cast<int32_t>(zero_point);
    if (!scale.given()) {
        if (zero != 0) {
            throw InvalidArgument(std::string(call.operation()) + ": zero point of " + name +
                                  " is " + std::to_string(zero) + ", its scale is None");
        }
        return {};
    }
    if (PyFloat_Check(scale.object.ptr()) || PyLong_Check(scale.object.ptr()))
        return {static_cast<float>(nb::cast<double>(scale.object)), zero};
    const Tensor scales = call.read(scale, name);
    if (scales.rank() != 0) return {scales, zero};
    if (!scales.device().is_cpu() || scales.type() != DataType::f32) {
        throw InvalidArgument(std::string(call.operation()) + ": " + name +
                              " is an array without dimensions; pass a float");
    }
    return {*scales.data<float>(), zero};
}

Result quantized_conv2d(First input, Array weight, OptionalArray bias, Scales input_scale,
                        int64_t input_zero_point, Scales weight_scale, int64_t weight_zero_point,
                        Scales bias_scale, int64_t bias_zero_point, TypeName output_type,
                        Scales output_scale, int64_t output_zero_point, Pair stride, Pads padding,
                        Pair dilation, int64_t groups, std::string_view layout,
                        std::optional<std::string_view> activation, std::optional<float> alpha,
                        std::optional<float> beta, OptionalArray out) {
    Call call("quantized_conv2d");
    call.set_layout(layout);
    const QuantizedTensor x(call.image(input, "input"),
                            quantization(call, input_scale, input_zero_point, "input_scale"));
    const QuantizedTensor w(call.image(weight, "weight"),
                            quantization(call, weight_scale, weight_zero_point, "weight_scale"));
    const QuantizedTensor b(call.optional(bias, "bias"),
                            quantization(call, bias_scale, bias_zero_point, "bias_scale"));
    Conv2dOptions options = convolution_options(call, x.values.shape(), w.values.shape(), stride,
                                                padding, dilation, groups);
    read_activation(activation, alpha, beta, options.activation, options.alpha, options.beta);
    const auto problem = QuantizedConv2dProblem::from_shapes(
        x.values.shape(), w.values.shape(), x.values.type(), read_type(output_type), options);
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_quantized_conv2d(problem, type, limits, true);
        });
    }
    Written y =
        call.write_or_make_image(out, "out", problem.conv.output_shape(), problem.output_type);
    const QuantizedTensor output(
        y.tensor, quantization(call, output_scale, output_zero_point, "output_scale"));
    call.run([&] { hk::quantized_conv2d(x, w, b, output, options, call.stream()); });
    return call.give(y);
}

constexpr const char *kDoc =
    R"(Convolution of a quantised weight: real = scale * (stored - zero point).

Args:
    input: uint8 or int8 with a scale and zero point, or float32 without; shapes as conv2d's.
    weight: int8, with one scale or a float32 array [K] of one a filter.
    bias: [K]: float32; int8 or int32 with a scale; or int32 without, in units of
        input scale * weight scale (input quantised).
    output_dtype: "float32", "uint8" or "int8" with a scale, or "int32": the sums themselves.
    stride, padding, dilation, groups, layout, out: as conv2d's.
    activation: "relu", "clamp", "leaky_relu".

Raises: as conv2d; ValueError too for a scale that is missing, superfluous or not above 0.

Source: runtime/include/hk/quantized_conv2d.h; ONNX QLinearConv, ConvInteger.)";

}  // namespace

void add_quantized_convolution(nb::module_ &module) {
    module.def("quantized_conv2d", quantized_conv2d, "input"_a, "weight"_a, "bias"_a = nb::none(),
               nb::kw_only(), "input_scale"_a = nb::none(), "input_zero_point"_a = 0,
               "weight_scale"_a = nb::none(), "weight_zero_point"_a = 0,
               "bias_scale"_a = nb::none(), "bias_zero_point"_a = 0, "output_dtype"_a = "float32",
               "output_scale"_a = nb::none(), "output_zero_point"_a = 0, "stride"_a = 1,
               "padding"_a = 0, "dilation"_a = 1, "groups"_a = 1, "layout"_a = "nhwc",
               "activation"_a = nb::none(), "alpha"_a = nb::none(), "beta"_a = nb::none(),
               "out"_a = nb::none(), kDoc);
}

}  // namespace hk::python
