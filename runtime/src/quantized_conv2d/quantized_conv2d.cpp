#include "hk/quantized_conv2d.h"

#include <optional>

#include "convolution/line.h"
#include "convolution/sum_parts.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "quantized_conv2d/check.h"
#include "quantized_conv2d/filter.h"
#include "quantized_conv2d/operands.h"
#include "rethrow.h"
#include "selection_cache.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "quantized_conv2d";

void call(const KernelInfo &kernel, QuantizedConv2dOperands &operands, const Filter &filter,
          const QuantizedConv2dNumbers &numbers, CallContext &context, bool own_queue) {
    using Use = KernelBuffer::Use;
    const auto role = [&](const char *operand, Use use) {
        return KernelBuffer::Role{kOperation, operand, use, own_queue};
    };
    const auto optional = [](bool present) { return present ? Use::read : Use::absent; };
    Conv2dOperands &conv = operands.conv;
    std::optional<Line> line;
    if (takes_line(kernel)) line = Line::join({&conv.output});
    KernelBuffer input(conv.input, role("input", Use::read));
    KernelBuffer weight(quantized_filter_view(kernel, conv, filter), role("weight", Use::read));
    KernelBuffer scale(operands.scale, role("weight scale", optional(operands.has_scale)));
    KernelBuffer bias(conv.bias, role("bias", optional(conv.has_bias)));
    KernelBuffer bias_scale(operands.bias_scale,
                            role("bias scale", optional(operands.has_bias_scale)));
    KernelBuffer output(conv.output, role("output", Use::write));
    KernelArguments arguments(kOperation, kernel);
    arguments
        .add({{"input", input},
              {"weight", weight},
              {"scale", scale},
              {"bias", bias},
              {"bias_scale", bias_scale}})
        .add(Conv2dNumbers(conv.problem.options).named())
        .add(numbers.named())
        .add({{"output", output}});
    if (line) arguments.add(line->named());
    if (counts_line(kernel))
        arguments.add(Line(conv.output, conv.problem.options.layout).divisors());
    if (takes_parts(kernel)) arguments.add(SumParts(sum_sizes(conv.problem)).named());
    call_kernel(context, arguments);
    output.finish();
}

// `row`: null for the one that selection takes.
void run(const KernelInfo *row, const QuantizedConv2dTensors &tensors, const Conv2dOptions &options,
         const Stream &stream) try {
    QuantizedConv2dProblem problem = check_quantized_conv2d(tensors, options);
    const Filter &filter = tensors.filter.values;
    problem.conv.prepared_filter = filter.is_prepared();
    const Device device = tensors.input.values.device();
    const Operand all[] = {{"input", tensors.input.values},
                           {"weight", tensors.weight()},
                           {"weight scale", tensors.filter.quantization.scales()},
                           {"bias", tensors.bias.values},
                           {"bias scale", tensors.bias.quantization.scales()},
                           {"output", tensors.output.values}};
    OperationCall context(kOperation, device, all, stream);
    const bool own_queue = on_own_queue(stream);
    QuantizedConv2dOperands operands = quantized_conv2d_operands(problem, tensors, own_queue);
    problem.conv = operands.conv.problem;

    const KernelInfo &kernel = selections<quantized_conv2d_kernels>(kOperation)
                                   .find(row, quantized_conv2d_fields(problem, device), device,
                                         [&] { return detail::to_string(problem); });
    if (tensors.output.values.elements() > 0) {
        call(kernel, operands, filter, QuantizedConv2dNumbers(tensors, options), context,
             own_queue);
    }
} catch (...) {
    rethrow_as_error(kOperation);
}

}  // namespace

void quantized_conv2d(const QuantizedTensor &input, const QuantizedFilter &weight,
                      const QuantizedTensor &bias, const QuantizedTensor &output,
                      const Conv2dOptions &options, const Stream &stream) {
    run(nullptr, {input, weight, bias, output}, options, stream);
}

QuantizedTensor quantized_conv2d(const QuantizedTensor &input, const QuantizedFilter &weight,
                                 const QuantizedTensor &bias, DataType output_type,
                                 const Quantization &output_quantization,
                                 const Conv2dOptions &options) try {
    for (const Operand &operand :
         {Operand{"input", input.values}, Operand{"weight", weight.values.tensor()}}) {
        if (operand.tensor.defined()) continue;
        throw InvalidArgument(std::string(kOperation) + ": " + operand.name + " is undefined");
    }
    const QuantizedConv2dProblem problem =
        QuantizedConv2dProblem::from_shapes(input.values.shape(), weight.values.tensor().shape(),
                                            input.values.type(), output_type, options);
    const QuantizedTensor output(
        Tensor(problem.conv.output_shape(), output_type, input.values.device()),
        output_quantization);
    quantized_conv2d(input, weight, bias, output, options);
    return output;
} catch (...) {
    rethrow_as_error(kOperation);
}

void quantized_conv2d_with(const KernelInfo &kernel, const QuantizedTensor &input,
                           const QuantizedFilter &weight, const QuantizedTensor &bias,
                           const QuantizedTensor &output, const Conv2dOptions &options,
                           const Stream &stream) {
    run(&kernel, {input, weight, bias, output}, options, stream);
}

Selection select_quantized_conv2d(const QuantizedConv2dProblem &problem, DeviceType device,
                                  const DeviceLimits &limits, bool explain) {
    const QuantizedConv2dProblem whole{normalised(problem.conv, normalise_quantized),
                                       problem.output_type};
    return select(quantized_conv2d_kernels(), quantized_conv2d_fields(whole, {device, limits}),
                  device, limits, explain);
}

}  // namespace hk
