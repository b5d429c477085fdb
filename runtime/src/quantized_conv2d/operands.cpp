#include "quantized_conv2d/operands.h"

#include <algorithm>
#include <array>

#include "convolution/line.h"

namespace hk::detail {

namespace {

constexpr const char *kOperation = "quantized_conv2d";

BiasKind kind_of(const QuantizedTensor &bias) {
    if (!bias.values.defined()) return BiasKind::none;
    if (bias.values.type() == DataType::f32) return BiasKind::real_f32;
    if (bias.values.type() == DataType::s8) return BiasKind::quantized_s8;
    return bias.quantization.defined() ? BiasKind::quantized_s32 : BiasKind::sum_s32;
}

// The activation's bounds in units of the output's scale, within what the type holds: kernels
// round what is between them, and add the zero point, without a thought of the type's ends. Both
// bounds are brought within, so that a clamp wholly outside of the range gives the range's end.
void set_bounds(QuantizedConv2dNumbers &numbers, const ActivationArguments &activation,
                DataType output) {
    numbers.slope = activation.slope;
    numbers.low = activation.low / numbers.output_scale;
    numbers.high = activation.high / numbers.output_scale;
    if (size_of(output) != 1) return;
    const auto least = static_cast<float>(0 - numbers.output_zero_point);
    const auto most = static_cast<float>(255 - numbers.output_zero_point);
    numbers.low = std::clamp(numbers.low, least, most);
    numbers.high = std::clamp(numbers.high, least, most);
}

// The bytes of a vector: [byte, k, g].
BufferView bytes_of(BufferView view) {
    const int64_t bytes = size_of(view.type);
    const Dim k = view.dims[0], g = view.dims[1];
    view.dims = {{bytes, 1}, {k.extent, k.stride * bytes}, {g.extent, g.stride * bytes}};
    view.type = DataType::s8;
    view.offset *= bytes;
    return view;
}

}  // namespace

QuantizedConv2dNumbers::QuantizedConv2dNumbers(const QuantizedConv2dTensors &tensors,
                                               const Conv2dOptions &options) {
    const DataType input = tensors.input.values.type(), output = tensors.output.values.type();
    if (input != DataType::f32) {
        input_flip = input == DataType::s8 ? 128 : 0;
        input_scale = tensors.input.quantization.scale();
        input_zero_point = tensors.input.quantization.zero_point() + input_flip;
    }
    scale_for_all = tensors.filter.quantization.scale();
    weight_zero_point = tensors.filter.quantization.zero_point();
    bias_kind = static_cast<int32_t>(kind_of(tensors.bias));
    if (tensors.bias.quantization.defined()) {
        bias_scale_for_all = tensors.bias.quantization.scale();
        bias_zero_point = tensors.bias.quantization.zero_point();
    }
    if (tensors.output.quantization.defined()) {
        output_scale = tensors.output.quantization.scale();
        output_flip = output == DataType::s8 ? 128 : 0;
        output_zero_point = tensors.output.quantization.zero_point() + output_flip;
    }
    integer_output = output == DataType::s32;
    set_bounds(*this, activation_arguments(activation_options(options)), output);
}

std::array<NamedArgument, 15> QuantizedConv2dNumbers::named() const {
    return {{{"input_flip", input_flip},
             {"input_scale", input_scale},
             {"input_zero_point", input_zero_point},
             {"scale_for_all", scale_for_all},
             {"weight_zero_point", weight_zero_point},
             {"bias_kind", bias_kind},
             {"bias_scale_for_all", bias_scale_for_all},
             {"bias_zero_point", bias_zero_point},
             {"output_scale", output_scale},
             {"output_flip", output_flip},
             {"output_zero_point", output_zero_point},
             {"integer_output", integer_output},
             {"slope", slope},
             {"low", low},
             {"high", high}}};
}

QuantizedConv2dOperands quantized_conv2d_operands(const QuantizedConv2dProblem &problem,
                                                  const QuantizedConv2dTensors &tensors,
                                                  bool own_queue) {
    const Conv2dProblem &conv = problem.conv;
    std::array<Tensor, 3> copies;
    const auto packed = [&](const char *operand, const Tensor &tensor,
                            Tensor &copy) -> const Tensor & {
        return packed_vector(kOperation, operand, tensor, own_queue, copy);
    };
    const Tensor &bias = packed("bias", tensors.bias.values, copies[0]);
    const Tensor &scale = packed("weight scale", tensors.filter.quantization.scales(), copies[1]);
    const Tensor &bias_scale = packed("bias scale", tensors.bias.quantization.scales(), copies[2]);
    const auto vector = [&](const Tensor &tensor) {
        return tensor.defined()
                   ? vector_of_filters(tensor, conv)
                   : absent_vector({&tensors.weight(), &scale, &bias_scale}, DataType::f32, conv);
    };

    QuantizedConv2dOperands operands;
    operands.has_scale = scale.defined();
    operands.has_bias_scale = bias_scale.defined();
    operands.conv = conv2d_operands(conv, tensors.input.values, tensors.weight(), {}, {},
                                    tensors.output.values);
    BufferView &input = operands.conv.input, &output = operands.conv.output;
    input.type = row_type(input.type);
    output.type = size_of(output.type) == 1 ? DataType::u8 : DataType::f32;
    operands.conv.residual.type = output.type;
    operands.conv.has_bias = bias.defined();
    operands.conv.bias = bytes_of(vector(bias));
    operands.scale = vector(scale);
    operands.bias_scale = vector(bias_scale);

    normalise_quantized(operands.conv);
    canonicalise(operands.scale.dims);
    canonicalise(operands.bias_scale.dims);
    check_fit_kernel(kOperation, operands.conv);
    check_fits_kernel(kOperation, "weight scale", operands.scale);
    return operands;
}

void normalise_quantized(Conv2dOperands &operands) {
    normalise(operands);
    operands.problem.image_alignment =
        image_alignment(operands.problem, {&operands.input, &operands.output});
}

DataType row_type(DataType input) { return input == DataType::s8 ? DataType::u8 : input; }

Fields quantized_conv2d_fields(const QuantizedConv2dProblem &problem, const DeviceTraits &device) {
    Fields fields = conv2d_fields(problem.conv, device);
    fields.type = row_type(problem.conv.type);
#include "quantized_conv2d/fields.def"
    return fields;
}

}  // namespace hk::detail
