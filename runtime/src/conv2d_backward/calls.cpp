#include "conv2d_backward/calls.h"

#include "conv2d_backward/operands.h"
#include "kernel_call.h"

namespace hk::detail {

namespace {

using Use = KernelBuffer::Use;

// The buffers of one call.
struct Buffers {
    Buffers(const char *operation, CallContext &context, bool own_queue)
        : operation(operation), context(context), own_queue(own_queue) {}

    KernelBuffer read(const char *operand, const BufferView &view) const {
        return {view, {operation, operand, Use::read, own_queue}};
    }

    // Kernels read a gradient as it was through the buffer that they write to.
    void call(const KernelInfo &kernel, NamedArguments inputs, const NamedArguments &numbers,
              const char *name, const char *operand, const BufferView &view, bool accumulate) {
        KernelBuffer gradient(
            view, {operation, operand, accumulate ? Use::update : Use::write, own_queue});
        call_kernel(operation, kernel, context,
                    inputs.add({{"previous", gradient}})
                        .add(numbers)
                        .add({{"accumulate", accumulate}, {name, gradient}}));
        gradient.finish();
    }

    const char *operation;
    CallContext &context;
    bool own_queue;
};

}  // namespace

void call_data(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue) {
    Buffers buffers("conv2d_backward_data", context, own_queue);
    KernelBuffer output = buffers.read("output gradient", operands.output),
                 weight = buffers.read("weight", operands.weight);
    const Conv2dOptions &options = operands.problem.options;
    const StridePhase x(options.stride[1], options.dilation[1]),
        y(options.stride[0], options.dilation[0]);
    buffers.call(kernel, {{"output_gradient", output}, {"weight", weight}},
                 Conv2dNumbers(options).named().add({{"common_x", x.common},
                                                     {"common_y", y.common},
                                                     {"inverse_x", x.inverse},
                                                     {"inverse_y", y.inverse}}),
                 "input_gradient", "input gradient", operands.input, accumulate);
}

void call_weight(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
                 CallContext &context, bool own_queue) {
    Buffers buffers("conv2d_backward_weight", context, own_queue);
    KernelBuffer output = buffers.read("output gradient", operands.output),
                 input = buffers.read("input", operands.input);
    buffers.call(kernel, {{"output_gradient", output}, {"input", input}},
                 Conv2dNumbers(operands.problem.options).named(), "weight_gradient",
                 "weight gradient", operands.weight, accumulate);
}

void call_bias(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue) {
    Buffers buffers("conv2d_backward_bias", context, own_queue);
    KernelBuffer output = buffers.read("output gradient", operands.output);
    buffers.call(kernel, {{"output_gradient", output}}, {}, "bias_gradient", "bias gradient",
                 operands.bias, accumulate);
}

}  // namespace hk::detail
