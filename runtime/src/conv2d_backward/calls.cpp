#include "conv2d_backward/calls.h"

#include "conv2d_backward/operands.h"
#include "kernel_call.h"

namespace hk::detail {

namespace {

using Use = KernelBuffer::Use;

Use use_of_gradient(bool accumulate) { return accumulate ? Use::update : Use::write; }

}  // namespace

// Kernels read a gradient as it was through the buffer that they write to. Arguments are as the
// generators declare them; call_kernel sets the first.
void call_data(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue) {
    constexpr const char *kName = "conv2d_backward_data";
    KernelBuffer output(operands.output, {kName, "output gradient", Use::read, own_queue});
    KernelBuffer weight(operands.weight, {kName, "weight", Use::read, own_queue});
    KernelBuffer input(operands.input,
                       {kName, "input gradient", use_of_gradient(accumulate), own_queue});
    const Conv2dOptions &options = operands.problem.options;
    Conv2dNumbers number(options);
    StridePhase x(options.stride[1], options.dilation[1]);
    StridePhase y(options.stride[0], options.dilation[0]);
    void *arguments[] = {
        nullptr,
        output.get(),
        weight.get(),
        input.get(),
        &number.stride_x,
        &number.stride_y,
        &number.dilation_x,
        &number.dilation_y,
        &number.padding_left,
        &number.padding_top,
        &x.common,
        &y.common,
        &x.inverse,
        &y.inverse,
        &accumulate,
        input.get(),
    };
    call_kernel(kName, kernel, context, arguments);
    input.finish();
}

void call_weight(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
                 CallContext &context, bool own_queue) {
    constexpr const char *kName = "conv2d_backward_weight";
    KernelBuffer output(operands.output, {kName, "output gradient", Use::read, own_queue});
    KernelBuffer input(operands.input, {kName, "input", Use::read, own_queue});
    KernelBuffer weight(operands.weight,
                        {kName, "weight gradient", use_of_gradient(accumulate), own_queue});
    Conv2dNumbers number(operands.problem.options);
    void *arguments[] = {
        nullptr,
        output.get(),
        input.get(),
        weight.get(),
        &number.stride_x,
        &number.stride_y,
        &number.dilation_x,
        &number.dilation_y,
        &number.padding_left,
        &number.padding_top,
        &accumulate,
        weight.get(),
    };
    call_kernel(kName, kernel, context, arguments);
    weight.finish();
}

void call_bias(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue) {
    constexpr const char *kName = "conv2d_backward_bias";
    KernelBuffer output(operands.output, {kName, "output gradient", Use::read, own_queue});
    KernelBuffer bias(operands.bias,
                      {kName, "bias gradient", use_of_gradient(accumulate), own_queue});
    void *arguments[] = {nullptr, output.get(), bias.get(), &accumulate, bias.get()};
    call_kernel(kName, kernel, context, arguments);
    bias.finish();
}

}  // namespace hk::detail
