#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdio>

#include "call.h"
#include "convolution_arguments.h"
#include "element_types.h"
#include "hk/error.h"
#include "hk/quantized_conv2d.h"
#include "operations.h"

namespace hk::python {

namespace {

using namespace nb::literals;

// Only inputs and outputs are ever uint8: a scale does not help others, whose type is refused.
bool needs_scale(const std::string &of, DataType type) {
    return type == DataType::s8 || (type == DataType::u8 && (of == "input" || of == "output"));
}

// Of inputs, biases and outputs that are the numbers themselves. Of other elements without a scale
// the type is refused.
bool refuses_scale(const std::string &of, DataType type) {
    return (type == DataType::f32 && of != "weight") || (type == DataType::s32 && of == "output");
}

// The quantisation that a scale, or an array of one a filter, and a zero point say; what they
// belong to is `of`, with elements of `type`. An array of scales is read by `read`.
template<typename Read>
Quantization quantization(const char *operation, const std::string &of, DataType type, Scales scale,
                          int64_t zero_point, Read read) {
    const auto fail = [&](const std::string &what) {
        throw InvalidArgument(std::string(operation) + ": " + of + what);
    };
    if (zero_point < INT32_MIN || zero_point > INT32_MAX)
        fail("_zero_point is " + std::to_string(zero_point) + ", more than 32 bits");
    const auto zero = static_cast<int32_t>(zero_point);
    if (!scale.given()) {
        if (zero != 0)
            fail("_zero_point is " + std::to_string(zero) + ", " + of + "_scale is None");
        if (needs_scale(of, type))
            fail(std::string(" is ") + numpy_name(type) + ", " + of + "_scale is None");
        return {};
    }
    if (refuses_scale(of, type))
        fail(std::string(" is ") + numpy_name(type) + ", " + of + "_scale must be None");
    const std::string name = of + "_scale";
    const auto one = [&](float value) {
        if (!std::isfinite(value) || value <= 0)
            fail("_scale is " + shown(scale.object) + ", it must be finite and above 0");
        return Quantization(value, zero);
    };
    if (PyFloat_Check(scale.object.ptr()) || PyLong_Check(scale.object.ptr()))
        return one(static_cast<float>(nb::cast<double>(scale.object)));
    const Tensor scales = read(scale, name.c_str());
    if (scales.rank() != 0) {
        try {
            return {scales, zero};
        } catch (const InvalidArgument &error) {
            fail("_scale: " + std::string(error.what()));
        }
    }
    if (!scales.device().is_cpu() || scales.type() != DataType::f32)
        fail("_scale is an array without dimensions; pass a float");
    return one(*scales.data<float>());
}

Quantization quantization(Call &call, const char *of, DataType type, Scales scale,
                          int64_t zero_point) {
    return quantization(call.operation(), of, type, scale, zero_point,
                        [&](Scales scales, const char *name) { return call.read(scales, name); });
}

QuantizedFilter prepare(Array weight, Scales scale, int64_t zero_point) {
    const auto read = [](Argument array, const char *name) {
        return keep(array.object, {kPrepare, name});
    };
    const Tensor values = read(weight, "weight");
    check_weight(values, {DataType::s8});
    const Quantization quantized =
        quantization(kPrepare, "weight", values.type(), scale, zero_point, read);
    if (quantized.per_channel() && quantized.scales().elements() != values.shape()[0]) {
        throw InvalidArgument(
            "prepare_filter: weight_scale has " + std::to_string(quantized.scales().elements()) +
            " scales, the weight has " + std::to_string(values.shape()[0]) + " filters");
    }
    return prepare_filter(QuantizedTensor(values, quantized));
}

// A weight of a call: a prepared one, which has its quantisation, or an array.
QuantizedFilter read_weight(Call &call, QuantizedWeight weight, const QuantizedFilter *prepared,
                            Tensor &values, Scales scale, int64_t zero_point) {
    if (!prepared) {
        if (prepared_in<Filter>(weight.object)) {
            refuse_type(std::string(call.operation()) +
                        ": weight is a Filter; prepare_filter(weight, weight_scale=...) makes a "
                        "QuantizedFilter");
        }
        values = call.image(weight, "weight");
        return {values, quantization(call, "weight", values.type(), scale, zero_point)};
    }
    if (scale.given() || zero_point != 0) {
        throw InvalidArgument(std::string(call.operation()) +
                              ": weight_scale and weight_zero_point are given, the weight is a "
                              "QuantizedFilter, which has its own");
    }
    return *prepared;
}

Result quantized_conv2d(First input, QuantizedWeight weight, OptionalArray bias, Scales input_scale,
                        int64_t input_zero_point, Scales weight_scale, int64_t weight_zero_point,
                        Scales bias_scale, int64_t bias_zero_point, TypeName output_type,
                        Scales output_scale, int64_t output_zero_point, Pair stride, Pads padding,
                        Pair dilation, int64_t groups, std::string_view layout,
                        std::optional<std::string_view> activation, std::optional<float> alpha,
                        std::optional<float> beta, OptionalArray out) {
    Call call("quantized_conv2d");
    const auto *prepared = prepared_in<QuantizedFilter>(weight.object);
    call.set_layout(layout, !prepared);
    const Tensor values = call.image(input, "input");
    const QuantizedTensor x(
        values, quantization(call, "input", values.type(), input_scale, input_zero_point));
    Tensor plain;
    const QuantizedFilter w =
        read_weight(call, weight, prepared, plain, weight_scale, weight_zero_point);
    const Tensor added = call.optional(bias, "bias");
    const DataType bias_type = added.defined() ? added.type() : DataType::f32;
    const QuantizedTensor b(added,
                            quantization(call, "bias", bias_type, bias_scale, bias_zero_point));
    const Shape &weight_shape = w.values.tensor().shape();
    Conv2dOptions options = convolution_options(call, x.values.shape(), weight_shape, stride,
                                                padding, dilation, groups);
    read_activation(activation, alpha, beta, options.activation, options.alpha, options.beta);
    auto problem = QuantizedConv2dProblem::from_shapes(
        x.values.shape(), weight_shape, x.values.type(), read_type(output_type), options);
    problem.conv.prepared_filter = w.values.is_prepared();
    if (explaining()) {
        return explain_with(call, [&](DeviceType type, const DeviceLimits &limits) {
            return select_quantized_conv2d(problem, type, limits, true);
        });
    }
    Written y =
        call.write_or_make_image(out, "out", problem.conv.output_shape(), problem.output_type);
    const QuantizedTensor output(
        y.tensor, quantization(call, "output", y.tensor.type(), output_scale, output_zero_point));
    call.run([&] { hk::quantized_conv2d(x, w, b, output, options, call.stream()); });
    return call.give(y);
}

constexpr const char *kDoc =
    R"(Convolution of a quantised weight: real = scale * (stored - zero point).

Args:
    input: uint8 or int8 with a scale and zero point, or float32 without; shapes as conv2d's.
    weight: int8, with one scale or a float32 array [K] of one a filter; or a QuantizedFilter
        (prepare_filter), which has its own.
    bias: [K]: float32; int8 or int32 with a scale; or int32 without, in units of
        input scale * weight scale (input quantised).
    output_dtype: "float32", "uint8" or "int8" with a scale, or "int32": the sums themselves.
    stride, padding, dilation, groups, layout, out: as conv2d's.
    activation: "relu", "clamp", "leaky_relu".

Raises: as conv2d; ValueError too for a scale that is missing, superfluous or not above 0.

Source: runtime/include/hk/quantized_conv2d.h; ONNX QLinearConv, ConvInteger.)";

std::string scale_text(const Quantization &quantization) {
    char text[64];
    if (quantization.per_channel()) {
        std::snprintf(text, sizeof text, ", %lld scales",
                      static_cast<long long>(quantization.scales().elements()));
    } else {
        std::snprintf(text, sizeof text, ", scale %g", static_cast<double>(quantization.scale()));
    }
    const int32_t zero = quantization.zero_point();
    return zero ? text + (", zero point " + std::to_string(zero)) : text;
}

void add_filter(nb::module_ &module) {
    nb::class_<QuantizedFilter>(
        module, "QuantizedFilter",
        "A weight of quantized_conv2d that does not change, with what kernels make of it.")
        .def_prop_ro(
            "shape",
            [](const QuantizedFilter &filter) { return tuple_of(filter.values.tensor().shape()); },
            nb::sig("def shape(self) -> tuple[int, ...]"))
        .def_prop_ro(
            "dtype",
            [](const QuantizedFilter &filter) { return numpy_name(filter.values.tensor().type()); })
        .def_prop_ro(
            "nbytes", [](const QuantizedFilter &filter) { return filter.values.bytes(); },
            "Bytes that are kept beside the weight, so far.")
        .def("__repr__", [](const QuantizedFilter &filter) {
            return filter_text("QuantizedFilter", filter.values.tensor(),
                               scale_text(filter.quantization));
        });
    module.def(kPrepare, prepare, "weight"_a, nb::kw_only(), "weight_scale"_a,
               "weight_zero_point"_a = 0,
               "Keeps what kernels make of a quantised weight, for many calls of "
               "quantized_conv2d.\n\n"
               "weight: int8 [K, R, S, C/groups], or [K, C/groups, R, S] where calls say layout "
               "\"nchw\". weight_scale and weight_zero_point are those of quantized_conv2d. The "
               "memory of both arrays is kept and must not change.\n\n"
               "Source: runtime/include/hk/filter.h.");
}

}  // namespace

void add_quantized_convolution(nb::module_ &module) {
    add_filter(module);
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
