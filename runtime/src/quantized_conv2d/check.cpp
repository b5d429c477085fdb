#include "quantized_conv2d/check.h"

#include <limits>

#include "convolution/weight_order.h"
#include "hk/error.h"

namespace hk {

namespace detail {

namespace {

constexpr const char *kOperation = "quantized_conv2d";

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument(std::string(kOperation) + ": " + what);
}

std::string name(DataType type) { return std::string(name_of(type)); }

bool is_byte(DataType type) { return type == DataType::u8 || type == DataType::s8; }

// `count`: of the scales where each filter has its own; 0 where that must not be.
void check_quantization(const char *operand, DataType type, const Quantization &quantization,
                        int64_t count) {
    const StoredRange range = range_of(type);
    const int64_t zero_point = quantization.zero_point();
    if (zero_point < range.least || zero_point > range.most) {
        fail(std::string(operand) + "'s zero point is " + std::to_string(zero_point) + ", " +
             name(type) + " holds " + std::to_string(range.least) + " to " +
             std::to_string(range.most));
    }
    if (!quantization.per_channel()) return;
    const int64_t scales = quantization.scales().elements();
    if (count == 0) {
        fail(std::string(operand) + " has " + std::to_string(scales) + " scales, it must have one");
    }
    if (scales != count) {
        fail(std::string(operand) + " has " + std::to_string(scales) + " scales, the weight has " +
             std::to_string(count) + " filters");
    }
}

void check_defined(const char *operand, DataType type, const Quantization &quantization,
                   bool wanted) {
    if (quantization.defined() == wanted) return;
    fail(std::string(operand) + " is " + name(type) +
         (wanted ? " and needs a quantization" : ", it can't have a quantization"));
}

// Its type and quantisation; `sum_bias`: the bias has the scale of the products.
void check_bias(const QuantizedTensor &bias, const QuantizedConv2dProblem &problem) {
    const bool quantized = bias.quantization.defined();
    if (!bias.values.defined()) {
        if (quantized) fail("bias is undefined, but has a quantization");
        return;
    }
    const DataType type = bias.values.type(), input = problem.conv.type;
    if (type != DataType::f32 && type != DataType::s8 && type != DataType::s32) {
        fail("bias is " + name(type) + ", it must be f32, s8 or s32");
    }
    const bool of_sum = type == DataType::s32 && !quantized;
    if (problem.output_type == DataType::s32 && !of_sum) {
        fail("bias is " + name(type) + (quantized ? " with a quantization" : "") +
             ", with output s32 it must be s32 without one");
    }
    if (of_sum && !is_byte(input)) {
        fail("bias is s32 without a quantization, input is " + name(input) +
             ": there is no scale of the products that it could have");
    }
    if (type != DataType::s32) check_defined("bias", type, bias.quantization, type == DataType::s8);
    if (quantized) check_quantization("bias", type, bias.quantization, problem.conv.filters);
}

void check_quantizations(const QuantizedConv2dTensors &tensors,
                         const QuantizedConv2dProblem &problem) {
    const DataType input = problem.conv.type, output = problem.output_type;
    const Quantization &of_input = tensors.input.quantization,
                       &of_output = tensors.output.quantization,
                       &of_weight = tensors.filter.quantization;
    check_defined("input", input, of_input, is_byte(input));
    if (is_byte(input)) check_quantization("input", input, of_input, 0);
    check_defined("weight", DataType::s8, of_weight, true);
    check_quantization("weight", DataType::s8, of_weight, problem.conv.filters);
    check_bias(tensors.bias, problem);
    check_defined("output", output, of_output, is_byte(output));
    if (is_byte(output)) check_quantization("output", output, of_output, 0);
}

}  // namespace

StoredRange range_of(DataType type) {
    const auto limits = [](auto value) {
        using Limits = std::numeric_limits<decltype(value)>;
        return StoredRange{Limits::min(), Limits::max()};
    };
    if (type == DataType::u8) return limits(uint8_t{});
    if (type == DataType::s8) return limits(int8_t{});
    return limits(int32_t{});
}

QuantizedConv2dProblem check_quantized_conv2d(const QuantizedConv2dTensors &quantized,
                                              const Conv2dOptions &options) {
    const Tensor none;
    const Conv2dTensors tensors{quantized.input.values, quantized.weight(), quantized.bias.values,
                                none, quantized.output.values};
    check_present(kOperation, tensors);
    if (tensors.weight.type() != DataType::s8) {
        fail("weight is " + name(tensors.weight.type()) + ", it must be s8");
    }
    const QuantizedConv2dProblem problem = QuantizedConv2dProblem::from_shapes(
        tensors.input.shape(), tensors.weight.shape(), tensors.input.type(),
        tensors.output.tensor().type(), options);
    check_quantizations(quantized, problem);
    check_views(kOperation, problem.conv, tensors);
    for (const Operand &scales : {Operand{"weight scale", quantized.filter.quantization.scales()},
                                  Operand{"bias scale", quantized.bias.quantization.scales()}}) {
        check_device(kOperation, scales, {"input", tensors.input});
        check_disjoint(kOperation, scales, {"output", tensors.output.tensor()});
    }
    return problem;
}

std::string to_string(const QuantizedConv2dProblem &problem) {
    return to_string(problem.conv, kOperation) + ", output " + name(problem.output_type);
}

}  // namespace detail

QuantizedConv2dProblem QuantizedConv2dProblem::from_shapes(const Shape &input, const Shape &weight,
                                                           DataType input_type,
                                                           DataType output_type,
                                                           const Conv2dOptions &options) {
    using namespace detail;
    if (!is_byte(input_type) && input_type != DataType::f32) {
        fail("input is " + name(input_type) + ", it must be u8, s8 or f32");
    }
    if (!is_byte(output_type) && output_type != DataType::f32 && output_type != DataType::s32) {
        fail("output is " + name(output_type) + ", it must be u8, s8, f32 or s32");
    }
    check_activation(kOperation, activation_options(options));
    const std::string activation(name_of(options.activation));
    if (options.activation == Activation::silu || options.activation == Activation::gelu) {
        fail("activation is " + activation + ", it must be none, relu, clamp or leaky_relu");
    }
    if (output_type == DataType::s32 && !is_byte(input_type)) {
        fail("output is s32, input is " + name(input_type) + ", it must be u8 or s8");
    }
    if (output_type == DataType::s32 && options.activation != Activation::none) {
        fail("output is s32, activation is " + activation + ", it must be none");
    }
    QuantizedConv2dProblem problem;
    problem.conv = conv2d_geometry_of_weight(kOperation, input, weight, input_type, options);
    problem.output_type = output_type;
    return problem;
}

}  // namespace hk
