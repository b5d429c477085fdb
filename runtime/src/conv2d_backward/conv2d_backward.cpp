#include "hk/conv2d_backward.h"

#include <algorithm>
#include <optional>

#include "conv2d_backward/channels_last.h"
#include "conv2d_backward/met_pixels.h"
#include "conv2d_backward/operands.h"
#include "conv2d_backward/passes.h"
#include "conv2d_backward/phases.h"
#include "conv2d_backward/weight_tree.h"
#include "fill_zero.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "rethrow.h"

namespace hk {

using namespace detail;

namespace {

bool takes(const KernelInfo &row, const Fields &problem, DeviceType device,
           const DeviceLimits &limits) {
    return select({&row, 1}, problem, device, limits, false).kernel;
}

bool takes(const KernelInfo &row, const Fields &problem, Device device) {
    return takes(row, problem, device.type(), device.limits());
}

// Whether the row was made for strides: it takes a problem of those whole.
bool made_for_strides(const KernelInfo &row) {
    return std::ranges::any_of(row.where, [](const Constraint &constraint) {
        return std::string_view(constraint.field) == "stride_x" && constraint.value > 1;
    });
}

const KernelInfo *row_for_strides(const Fields &problem, DeviceType device,
                                  const DeviceLimits &limits) {
    for (const KernelInfo &row : kData.kernels()) {
        if (made_for_strides(row) && takes(row, problem, device, limits)) return &row;
    }
    return nullptr;
}

// Whether a problem is computed in phases: a strided one, on a CPU and by products on CUDA. A row
// that takes it whole does so, where it is given, or made for the strides: then it is put into
// `row`.
bool runs_in_phases(const Conv2dOperands &whole, const KernelInfo *&row, Device device) {
    if (!is_strided(whole.problem)) return false;
    if (!row && !device.is_cpu())
        return products_take_phases(whole, device.type(), device.limits());
    const Fields fields = conv2d_fields(normalised(whole.problem, normalise_backward_data), device);
    if (!row) row = row_for_strides(fields, device.type(), device.limits());
    return !(row && takes(*row, fields, device));
}

// One pass, or those of the phases of a strided problem: with the given row those that it takes.
// Returns whether pixels are left, which are zero.
bool add_data(std::vector<Pass> &passes, Conv2dOperands whole, const KernelInfo *row,
              Device device) {
    simplify_axes(whole);
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
    if (row && !taken) passes.emplace_back(kData, std::move(whole), row, device);
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

void run(const char *operation, const KernelInfo *row, const Conv2dBackwardTensors &tensors,
         const Conv2dOptions &options, float beta, const Stream &stream) try {
    const auto &gradients = tensors.gradients;
    const Conv2dProblem problem = check_conv2d_backward(operation, tensors, options, beta);
    const Tensor &output = tensors.output_gradient;
    const Device device = output.device();
    const OfCopies copies(problem, tensors, row, device);
    if (copies.data_of_met)
        return run_data_on_met_pixels(operation, tensors, options, beta, stream);
    if (copies.of_met) return run_on_met_pixels(operation, tensors, options, beta, stream);
    if (copies.data || copies.weight)
        return run_on_copies(copies, operation, row, tensors, options, beta, stream);
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

Selection select_pass(const GradientFamily &family, const Conv2dProblem &problem, DeviceType device,
                      const DeviceLimits &limits, bool explain) {
    return select(family.kernels(),
                  conv2d_fields(normalised(problem, family.normalise), {device, limits}), device,
                  limits, explain);
}

// That of copies in nhwc, behind the rows of nchw that were rejected, where none of those takes the
// problem.
template<typename Select>
Selection or_of_copies(Selection of_nchw, Conv2dProblem problem, DeviceType device,
                       Select select_of) {
    const bool copies = device == DeviceType::cpu && problem.options.layout == Layout::nchw;
    if (of_nchw.kernel || !copies) return of_nchw;
    problem.options.layout = Layout::nhwc;
    Selection selection = select_of(problem);
    selection.rejected.insert(selection.rejected.begin(), of_nchw.rejected.begin(),
                              of_nchw.rejected.end());
    return selection;
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

Selection select_conv2d_backward_data(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain) {
    if (device == DeviceType::cpu && problem.options.layout == Layout::nchw) {
        Selection of_nchw = select_pass(kData, problem, device, limits, explain);
        const std::optional<Conv2dProblem> met = of_met_pixels(problem);
        if (!of_nchw.kernel && met)
            return select_conv2d_backward_data(*met, device, limits, explain);
        return or_of_copies(std::move(of_nchw), problem, device, [&](const Conv2dProblem &last) {
            return select_conv2d_backward_data(last, device, limits, explain);
        });
    }
    const Conv2dShapes shapes(problem);
    Conv2dOperands whole =
        conv2d_operands(problem, shapes.input, shapes.weight, {}, {}, shapes.output);
    simplify_axes(whole);
    const auto on_cpu_in_phases = [&] {
        const Conv2dProblem normal = normalised(problem, normalise_backward_data);
        return !row_for_strides(conv2d_fields(normal, {device, limits}), device, limits);
    };
    const bool in_phases =
        is_strided(whole.problem) &&
        (device == DeviceType::cpu ? on_cpu_in_phases()
                                   : products_take_phases(whole, device, limits));
    const DataPhases phases = in_phases ? data_phases(whole.problem) : DataPhases();
    if (phases.phases.empty()) return select_pass(kData, problem, device, limits, explain);
    Conv2dOperands operands = operands_of(with_most_taps(phases), whole);
    normalise_backward_data(operands);
    Selection selection = select(kData.kernels(), conv2d_fields(operands.problem, {device, limits}),
                                 device, limits, explain);
    std::erase_if(selection.ladder, [&](const Rung &rung) {
        return !takes_columns_of_phases(*rung.kernel, whole.problem);
    });
    return selection;
}

Selection select_conv2d_backward_weight(const Conv2dProblem &problem, DeviceType device,
                                        const DeviceLimits &limits, bool explain) {
    Selection selection = select_pass(kWeight, problem, device, limits, explain);
    const std::optional<Conv2dProblem> met = of_met_pixels(problem);
    if (!selection.kernel && met && device == DeviceType::cpu) {
        Selection of_met = select_pass(kWeight, *met, device, limits, explain);
        if (of_met.kernel) return of_met;
    }
    return or_of_copies(std::move(selection), problem, device, [&](const Conv2dProblem &last) {
        return select_pass(kWeight, last, device, limits, explain);
    });
}

Selection select_conv2d_backward_bias(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain) {
    const Conv2dProblem bias =
        bias_problem(kBias.name, problem.output_shape(), problem.type, problem.options.layout);
    return select_pass(kBias, bias, device, limits, explain);
}

}  // namespace hk
