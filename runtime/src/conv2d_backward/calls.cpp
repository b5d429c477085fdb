#include "conv2d_backward/calls.h"

#include <optional>

#include "conv2d_backward/operands.h"
#include "conv2d_backward/parts.h"
#include "convolution/halo.h"
#include "convolution/line.h"
#include "convolution/sum_parts.h"
#include "kernel_call.h"

namespace hk::detail {

namespace {

using Use = KernelBuffer::Use;

// One call, whose buffers have the views' roles in messages.
struct Call {
    Call(const char *operation, const KernelInfo &kernel, bool accumulate, CallContext &context,
         bool own_queue)
        : operation(operation),
          accumulate(accumulate),
          context(context),
          own_queue(own_queue),
          arguments(operation, kernel) {}

    KernelBuffer read(const char *operand, const BufferView &view) const {
        return {view, {operation, operand, Use::read, own_queue}};
    }

    // Kernels read a gradient as it was through the buffer that they write to.
    void write(const char *name, const char *operand, const BufferView &view) {
        KernelBuffer gradient(
            view, {operation, operand, accumulate ? Use::update : Use::write, own_queue});
        arguments.add({{"accumulate", accumulate}, {name, gradient}, {"previous", gradient}});
        call_kernel(context, arguments);
        gradient.finish();
    }

    const char *operation;
    bool accumulate;
    CallContext &context;
    bool own_queue;
    KernelArguments arguments;
};

// Of 16 bytes, of a tap's channels.
int64_t vectors_of_tap(const Conv2dProblem &problem) {
    const int64_t vector = 16 / size_of(problem.type);
    return (problem.channels / problem.options.groups + vector - 1) / vector;
}

// The same of a row of taps, as generators/conv2d/channels_last.h copies it: a pixel is half a
// vector where it can be.
int64_t vectors_of_windows(const Conv2dProblem &problem) {
    const int64_t half = 8 / size_of(problem.type);
    const bool halves =
        problem.channels / problem.options.groups <= half && problem.options.stride[1] % 2 == 0;
    return halves ? (problem.kernel_width + 1) / 2 : problem.kernel_width * vectors_of_tap(problem);
}

}  // namespace

void call_data(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue) {
    BufferView input = operands.input;
    std::optional<Line> line;
    const bool counted = counts_line(kernel);
    if (counted) line = Line(input, operands.problem.options.layout);
    if (takes_line(kernel)) line = Line::join({&input});
    std::optional<Planes> planes;
    if (takes_planes(kernel)) planes = Planes::join({&input});
    Call call("conv2d_backward_data", kernel, accumulate, context, own_queue);
    KernelBuffer output = call.read("output gradient", operands.output);
    KernelBuffer weight = call.read("weight", operands.weight);
    const Conv2dOptions &options = operands.problem.options;
    const StridePhase x(options.stride[1], options.dilation[1]),
        y(options.stride[0], options.dilation[0]);
    call.arguments.add({{"output_gradient", output}, {"weight", weight}})
        .add(Conv2dNumbers(options).named())
        .add({{"common_x", x.common},
              {"common_y", y.common},
              {"inverse_x", x.inverse},
              {"inverse_y", y.inverse}});
    if (counted)
        call.arguments.add(line->divisors());
    else if (line)
        call.arguments.add(line->named());
    if (planes) call.arguments.add(planes->named());
    if (takes_halo(kernel)) call.arguments.add(Halo::of_input(operands.problem).named());
    if (takes_parts(kernel))
        call.arguments.add(SumParts(gradient_sum_sizes(operands.problem)).named());
    call.write("input_gradient", "input gradient", input);
}

void call_weight(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
                 CallContext &context, bool own_queue) {
    BufferView gradient = operands.output;
    const Layout layout = operands.problem.options.layout;
    std::optional<Line> line;
    if (takes_line(kernel)) line = Line::join({&gradient}, layout);
    Call call("conv2d_backward_weight", kernel, accumulate, context, own_queue);
    KernelBuffer output = call.read("output gradient", gradient);
    KernelBuffer input = call.read("input", operands.input);
    call.arguments.add({{"output_gradient", output}, {"input", input}})
        .add(Conv2dNumbers(operands.problem.options).named());
    if (line) call.arguments.add(line->named());
    if (counts_line(kernel)) call.arguments.add(Line(gradient, layout).divisors());
    if (takes_on_cuda(kernel, "vectors_multiplier")) {
        const bool windows = !takes_on_cuda(kernel, "taps_multiplier");
        const Conv2dProblem &p = operands.problem;
        const Divisor vectors(windows ? vectors_of_windows(p) : vectors_of_tap(p));
        call.arguments.add(
            {{"vectors_multiplier", vectors.multiplier}, {"vectors_shift", vectors.shift}});
        const Divisor taps(p.kernel_width);
        if (!windows)
            call.arguments.add({{"taps_multiplier", taps.multiplier}, {"taps_shift", taps.shift}});
    }
    if (takes_parts(kernel)) {
        const LineParts of(kernel, operands.problem);
        call.arguments.add({{"parts", static_cast<int32_t>(of.parts)},
                            {"slices", static_cast<int32_t>(of.steps)}});
    }
    call.write("weight_gradient", "weight gradient", operands.weight);
}

void call_bias(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
               CallContext &context, bool own_queue) {
    Call call("conv2d_backward_bias", kernel, accumulate, context, own_queue);
    KernelBuffer output = call.read("output gradient", operands.output);
    call.arguments.add({{"output_gradient", output}});
    call.write("bias_gradient", "bias gradient", operands.bias);
}

}  // namespace hk::detail
