#include "hk/conv2d_backward.h"

#include <algorithm>
#include <optional>

#include "conv2d_backward/channels_last.h"
#include "conv2d_backward/joined_windows.h"
#include "conv2d_backward/met_pixels.h"
#include "conv2d_backward/operands.h"
#include "conv2d_backward/passes.h"
#include "conv2d_backward/phases.h"
#include "conv2d_backward/weight_tree.h"
#include "convolution/met_taps.h"
#include "fill_zero.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "rethrow.h"

namespace hk {

using namespace detail;

namespace {

bool takes(const KernelInfo &row, const Fields &problem, Device device) {
    return detail::takes(row, problem, device.type(), device.limits());
}

// Whether a problem is computed in phases: a strided one, on a CPU and by products on CUDA, but
// where the given row, or one made for strides, takes it whole.
bool runs_in_phases(const Conv2dOperands &whole, const KernelInfo *row, Device device) {
    if (!is_strided(whole.problem)) return false;
    if (!row && !device.is_cpu())
        return products_take_phases(whole, device.type(), device.limits());
    Conv2dOperands views = whole;  // taps are channels where memory is so, which a problem is not
    normalise_backward_data(views);
    const Fields fields = conv2d_fields(views.problem, device);
    return !(row ? takes(*row, fields, device) : has_row_for_strides(fields, device));
}

// One pass, or those of the phases of a strided problem: with the given row those that it takes.
// Returns whether pixels are left, which are zero.
bool add_data(std::vector<Pass> &passes, Conv2dOperands whole, const KernelInfo *row,
              Device device) {
    if (is_strided(whole.problem)) whole = folded_for_phases(std::move(whole));
    if (!runs_in_phases(whole, row, device)) {
        passes.emplace_back(kData, std::move(whole), row, device);
        return false;
    }
    const Conv2dProblem &problem = whole.problem;
    const DataPhases phases = data_phases(problem);
    bool taken = false;
    for (const DataPhase &phase : phases.phases) {
        Pass &pass = passes.emplace_back(kData, operands_of(phase, whole), nullptr, device);
        if (!row || !takes_columns_of_phases(*row, problem)) continue;
        if (!takes(*row, conv2d_fields(pass.operands.problem, device), device)) continue;
        pass.kernel = row;
        taken = true;
    }
    if (row && !taken) {  // which says why it takes nothing
        passes.clear();
        passes.emplace_back(kData, std::move(whole), row, device);
    }
    return !phases.all_pixels;
}

// Gradients that are computed of copies in nhwc: of images in nchw, on a CPU, those that no row of
// nchw takes as they are, or, where a row is given, those of a row of nhwc.
struct OfCopies {
    OfCopies(const Conv2dProblem &problem, const Conv2dBackwardTensors &tensors,
             const KernelInfo *row, Device device) {
        if (!device.is_cpu() || problem.options.layout != Layout::nchw) return;
        const auto is_copied = [&](const GradientFamily &family, const Tensor &input,
                                   const Tensor &filter) {
            if (row) return row->layout == Layout::nhwc;
            return !any_takes(
                family, conv2d_operands(problem, input, filter, {}, {}, tensors.output_gradient),
                device);
        };
        const auto &gradients = tensors.gradients;
        data = gradients.input.defined() && is_copied(kData, gradients.input, tensors.weight);
        weight = gradients.weight.defined() && is_copied(kWeight, tensors.input, gradients.weight);
        if ((!data && !weight) || row || tensors.output_gradient.elements() == 0) return;
        const std::optional<Conv2dProblem> met = of_met_pixels(problem);
        if (!met) return;
        data_of_met = data;
        if (!weight) return;
        of_met = any_takes(kWeight,
                           conv2d_operands(*met, Conv2dShapes(*met).input, gradients.weight, {}, {},
                                           tensors.output_gradient),
                           device);
    }

    bool data = false, weight = false;
    bool of_met = false;  // the weight's by a row of nchw, of a copy of the input's pixels it meets
    bool data_of_met = false;  // the input's of these pixels alone, the others of which are zeros
};

void run(const char *operation, const KernelInfo *row, const Conv2dBackwardTensors &tensors,
         const Conv2dOptions &options, float beta, const Stream &stream);

// Of images in nhwc: whether windows are joined is asked of these taps.
void run_on_met_taps(const char *operation, const KernelInfo *row, const MetTaps &met,
                     const Conv2dBackwardTensors &tensors, Conv2dOptions options, float beta,
                     const Stream &stream) {
    const auto &[output, input, weight, gradients] = tensors;
    if (gradients.weight.defined() && beta == 0) gradients.weight.fill_zero();
    options.padding = met.padding;
    run(operation, row,
        {output,
         input,
         met_taps_of(weight, met),
         {gradients.input, met_taps_of(gradients.weight, met), gradients.bias}},
        options, beta, stream);
}

void run_data_on_met_pixels(const char *operation, const Conv2dBackwardTensors &tensors,
                            const Conv2dOptions &options, float beta, const Stream &stream) {
    const Tensor none;
    const auto &[output, input, weight, gradients] = tensors;
    if (gradients.weight.defined() || gradients.bias.defined())
        run(operation, nullptr, {output, input, none, {none, gradients.weight, gradients.bias}},
            options, beta, stream);
    const Tensor view = met_pixels(gradients.input, output, options);
    const Tensor met(view.shape(), view.type(), view.device());
    if (beta == 1) met.copy_from(view);
    run(operation, nullptr, {output, none, weight, {met, none, none}}, with_stride_1(options), beta,
        stream);
    if (beta == 0) gradients.input.fill_zero();
    view.copy_from(met);
}

void run_on_met_pixels(const char *operation, const Conv2dBackwardTensors &tensors,
                       const Conv2dOptions &options, float beta, const Stream &stream) {
    const Tensor none;
    const auto &[output, input, weight, gradients] = tensors;
    const Tensor met = met_pixels(input, output, options).to(input.device());
    const Conv2dOptions of_met = with_stride_1(options);
    run(operation, nullptr, {output, met, none, {none, gradients.weight, none}}, of_met, beta,
        stream);
    if (!gradients.input.defined() && !gradients.bias.defined()) return;
    run(operation, nullptr, {output, none, weight, {gradients.input, none, gradients.bias}},
        options, beta, stream);
}

void run_on_copies(const OfCopies &copies, const char *operation, const KernelInfo *row,
                   const Conv2dBackwardTensors &tensors, const Conv2dOptions &options, float beta,
                   const Stream &stream) {
    const Tensor none;
    const auto &[output, input, weight, gradients] = tensors;
    const ChannelsLast last(
        {output,
         copies.weight ? input : none,
         copies.data ? weight : none,
         {copies.data ? gradients.input : none, copies.weight ? gradients.weight : none, none}},
        beta == 1);
    Conv2dOptions of_copies = options;
    of_copies.layout = Layout::nhwc;
    run(operation, row, last.tensors(), of_copies, beta, stream);
    last.write_back();
    const Conv2dBackwardTensors others{output,
                                       input,
                                       weight,
                                       {copies.data ? none : gradients.input,
                                        copies.weight ? none : gradients.weight, gradients.bias}};
    const auto &[data, of_weight, bias] = others.gradients;
    if (data.defined() || of_weight.defined() || bias.defined())
        run(operation, nullptr, others, options, beta, stream);
}

// Whether the weight's gradient is left to that of joined windows.
bool joins_windows(const Conv2dProblem &problem, const Conv2dBackwardTensors &tensors,
                   const KernelInfo *row, Device device) {
    const Tensor &output = tensors.output_gradient, &gradient = tensors.gradients.weight;
    if (row || !device.is_cpu() || !gradient.defined() || output.elements() == 0) return false;
    return of_joined_windows(problem) &&
           !any_takes(kWeight, conv2d_operands(problem, tensors.input, gradient, {}, {}, output),
                      device);
}

void run_on_joined_windows(const char *operation, const Conv2dProblem &problem,
                           const Conv2dBackwardTensors &tensors, float beta, const Stream &stream) {
    const auto &[output, input, weight, gradients] = tensors;
    const JoinedWindows joined(problem, tensors, beta == 1);
    run(operation, nullptr, joined.tensors(), joined.options(), beta, stream);
    joined.write_back();
    if (!gradients.input.defined() && !gradients.bias.defined()) return;
    const Tensor none;
    run(operation, nullptr, {output, none, weight, {gradients.input, none, gradients.bias}},
        problem.options, beta, stream);
}

void run(const char *operation, const KernelInfo *row, const Conv2dBackwardTensors &tensors,
         const Conv2dOptions &options, float beta, const Stream &stream) try {
    const auto &gradients = tensors.gradients;
    const Conv2dProblem problem = check_conv2d_backward(operation, tensors, options, beta);
    const Tensor &output = tensors.output_gradient;
    const Device device = output.device();
    if (device.is_cpu() && options.layout == Layout::nhwc) {
        if (const std::optional<MetTaps> met = met_taps(problem))
            return run_on_met_taps(operation, row, *met, tensors, options, beta, stream);
    }
    const OfCopies copies(problem, tensors, row, device);
    if (copies.data_of_met)
        return run_data_on_met_pixels(operation, tensors, options, beta, stream);
    if (copies.of_met) return run_on_met_pixels(operation, tensors, options, beta, stream);
    if (copies.data || copies.weight)
        return run_on_copies(copies, operation, row, tensors, options, beta, stream);
    if (joins_windows(problem, tensors, row, device))
        return run_on_joined_windows(operation, problem, tensors, beta, stream);
    const Operand all[] = {{"output gradient", output},
                           {"input", gradients.weight.defined() ? tensors.input : gradients.weight},
                           {"weight", gradients.input.defined() ? tensors.weight : gradients.input},
                           {"input gradient", gradients.input},
                           {"weight gradient", gradients.weight},
                           {"bias gradient", gradients.bias}};
    OperationCall context(operation, device, all, stream);
    const bool own_queue = on_own_queue(stream), accumulate = beta == 1;
    std::vector<Pass> passes;
    bool zeros_between = false;
    if (gradients.input.defined()) {
        zeros_between = add_data(
            passes, conv2d_operands(problem, gradients.input, tensors.weight, {}, {}, output), row,
            device);
    }
    if (gradients.weight.defined()) {
        passes.emplace_back(
            kWeight, conv2d_operands(problem, tensors.input, gradients.weight, {}, {}, output), row,
            device);
    }
    if (gradients.bias.defined()) {
        passes.emplace_back(kBias, bias_operands(output, gradients.bias, options.layout), row,
                            device);
    }
    if (output.elements() == 0) {
        for (const Tensor &gradient : {gradients.weight, gradients.bias}) {
            if (gradient.defined() && !accumulate) gradient.fill_zero();
        }
        return;
    }
    if (zeros_between && !accumulate) queue_zeros(gradients.input, context.stream);
    if (gradients.weight.defined() && !accumulate && met_taps(problem))
        queue_zeros(gradients.weight, context.stream);
    for (const Pass &pass : passes) {
        if (&pass.family == &kWeight) {
            const WeightTree tree(pass, problem, tensors, stream);
            tree.add(0, tree.parts(), gradients.weight, accumulate, context);
        } else {
            pass.family.call(*pass.kernel, pass.operands, accumulate, context, own_queue);
        }
    }
} catch (...) {
    rethrow_as_error(operation);
}

void check_defined(const GradientFamily &family, const char *name, const Tensor &tensor) {
    if (tensor.defined()) return;
    throw InvalidArgument(std::string(family.name) + ": " + name + " is undefined");
}

}  // namespace

void conv2d_backward(const Tensor &output_gradient, const Tensor &input, const Tensor &weight,
                     const Conv2dGradients &gradients, const Conv2dOptions &options, float beta,
                     const Stream &stream) {
    run("conv2d_backward", nullptr,
        {output_gradient, input, weight, {gradients.input, gradients.weight, gradients.bias}},
        options, beta, stream);
}

void conv2d_backward_data(const Tensor &output_gradient, const Tensor &weight,
                          const Tensor &input_gradient, const Conv2dOptions &options, float beta,
                          const Stream &stream) {
    check_defined(kData, "input gradient", input_gradient);
    run(kData.name, nullptr, {output_gradient, {}, weight, {input_gradient, {}, {}}}, options, beta,
        stream);
}

void conv2d_backward_weight(const Tensor &output_gradient, const Tensor &input,
                            const Tensor &weight_gradient, const Conv2dOptions &options, float beta,
                            const Stream &stream) {
    check_defined(kWeight, "weight gradient", weight_gradient);
    run(kWeight.name, nullptr, {output_gradient, input, {}, {{}, weight_gradient, {}}}, options,
        beta, stream);
}

void conv2d_backward_bias(const Tensor &output_gradient, const Tensor &bias_gradient, Layout layout,
                          float beta, const Stream &stream) {
    check_defined(kBias, "bias gradient", bias_gradient);
    run(kBias.name, nullptr, {output_gradient, {}, {}, {{}, {}, bias_gradient}}, {.layout = layout},
        beta, stream);
}

Tensor conv2d_backward_data(const Tensor &output_gradient, const Tensor &weight,
                            const Shape &input_shape, const Conv2dOptions &options) try {
    check_defined(kData, "output gradient", output_gradient);
    const Tensor gradient(input_shape, output_gradient.type(), output_gradient.device());
    conv2d_backward_data(output_gradient, weight, gradient, options);
    return gradient;
} catch (...) {
    rethrow_as_error(kData.name);
}

Tensor conv2d_backward_weight(const Tensor &output_gradient, const Tensor &input,
                              const Shape &weight_shape, const Conv2dOptions &options) try {
    check_defined(kWeight, "output gradient", output_gradient);
    const Tensor gradient(weight_shape, output_gradient.type(), output_gradient.device());
    conv2d_backward_weight(output_gradient, input, gradient, options);
    return gradient;
} catch (...) {
    rethrow_as_error(kWeight.name);
}

Tensor conv2d_backward_bias(const Tensor &output_gradient, Layout layout) try {
    check_defined(kBias, "output gradient", output_gradient);
    const Conv2dProblem problem =
        bias_problem(kBias.name, output_gradient.shape(), output_gradient.type(), layout);
    const Tensor gradient({problem.filters}, output_gradient.type(), output_gradient.device());
    conv2d_backward_bias(output_gradient, gradient, layout);
    return gradient;
} catch (...) {
    rethrow_as_error(kBias.name);
}

void conv2d_backward_data_with(const KernelInfo &kernel, const Tensor &output_gradient,
                               const Tensor &weight, const Tensor &input_gradient,
                               const Conv2dOptions &options, float beta, const Stream &stream) {
    check_defined(kData, "input gradient", input_gradient);
    run(kData.name, &kernel, {output_gradient, {}, weight, {input_gradient, {}, {}}}, options, beta,
        stream);
}

void conv2d_backward_weight_with(const KernelInfo &kernel, const Tensor &output_gradient,
                                 const Tensor &input, const Tensor &weight_gradient,
                                 const Conv2dOptions &options, float beta, const Stream &stream) {
    check_defined(kWeight, "weight gradient", weight_gradient);
    run(kWeight.name, &kernel, {output_gradient, input, {}, {{}, weight_gradient, {}}}, options,
        beta, stream);
}

void conv2d_backward_bias_with(const KernelInfo &kernel, const Tensor &output_gradient,
                               const Tensor &bias_gradient, Layout layout, float beta,
                               const Stream &stream) {
    check_defined(kBias, "bias gradient", bias_gradient);
    run(kBias.name, &kernel, {output_gradient, {}, {}, {{}, {}, bias_gradient}}, {.layout = layout},
        beta, stream);
}

}  // namespace hk
