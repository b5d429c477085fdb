#include "hk/conv2d_backward.h"

#include <algorithm>

#include "conv2d_backward/calls.h"
#include "conv2d_backward/check.h"
#include "conv2d_backward/operands.h"
#include "conv2d_backward/parts.h"
#include "conv2d_backward/phases.h"
#include "fill_zero.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "rethrow.h"
#include "selection_cache.h"

namespace hk {

using namespace detail;

namespace {

// One of the three families. Its operands are those of the forward convolution, with gradients in
// the places of what they belong to.
struct Family {
    const char *name;
    std::span<const KernelInfo> (*kernels)();
    Normalise normalise;
    SelectionCache &(*cache)(const char *name);
    void (*call)(const KernelInfo &kernel, const Conv2dOperands &operands, bool accumulate,
                 CallContext &context, bool own_queue);
};

const Family kData{"conv2d_backward_data", conv2d_backward_data_kernels, normalise_backward_data,
                   selections<conv2d_backward_data_kernels>, call_data};
const Family kWeight{"conv2d_backward_weight", conv2d_backward_weight_kernels,
                     normalise_backward_weight, selections<conv2d_backward_weight_kernels>,
                     call_weight};
const Family kBias{"conv2d_backward_bias", conv2d_backward_bias_kernels, normalise_backward_bias,
                   selections<conv2d_backward_bias_kernels>, call_bias};

// A gradient that is about to be computed.
struct Pass {
    // `row`: null for the one that selection takes.
    Pass(const Family &family, Conv2dOperands views, const KernelInfo *row, Device device)
        : family(family), operands(std::move(views)) {
        family.normalise(operands);
        check_fit_kernel(family.name, operands);
        const Conv2dProblem &problem = operands.problem;
        kernel = &family.cache(family.name)
                      .find(row, conv2d_fields(problem, device.type()), device,
                            [&] { return detail::to_string(problem, family.name); });
    }

    const Family &family;
    Conv2dOperands operands;
    const KernelInfo *kernel;
};

bool takes(const KernelInfo &row, const Fields &problem, Device device) {
    return select({&row, 1}, problem, device.type(), device.limits(), false).kernel;
}

// Whether the row was made for strides: it takes a problem of those whole.
bool made_for_strides(const KernelInfo &row) {
    return std::ranges::any_of(row.where, [](const Constraint &constraint) {
        return std::string_view(constraint.field) == "stride_x" && constraint.value > 1;
    });
}

const KernelInfo *row_for_strides(const Fields &problem, Device device) {
    for (const KernelInfo &row : kData.kernels()) {
        if (made_for_strides(row) && takes(row, problem, device)) return &row;
    }
    return nullptr;
}

// Whether a problem is computed in phases: a strided one, on a CPU and by tensor cores. A row that
// takes it whole does so, where it is given, or made for the strides: then it is put into `row`.
bool runs_in_phases(const Conv2dProblem &problem, const DataTensors &tensors,
                    const KernelInfo *&row, Device device) {
    if (!is_strided(problem)) return false;
    if (!row && !device.is_cpu())
        return tensor_cores_take_phases(problem, tensors, device.type(), device.limits());
    const Fields whole = conv2d_fields(normalised(problem, normalise_backward_data), device.type());
    if (!row) row = row_for_strides(whole, device);
    return !(row && takes(*row, whole, device));
}

// One pass, or those of the phases of a strided problem: with the given row those that it takes.
// Returns whether pixels are left, which are zero.
bool add_data(std::vector<Pass> &passes, const Conv2dProblem &problem, const DataTensors &tensors,
              const KernelInfo *row, Device device) {
    if (!runs_in_phases(problem, tensors, row, device)) {
        passes.emplace_back(kData, tensors.operands(problem), row, device);
        return false;
    }
    const DataPhases phases = data_phases(problem);
    bool taken = false;
    for (const DataPhase &phase : phases.phases) {
        Pass &pass = passes.emplace_back(kData, tensors.operands(problem, phase), nullptr, device);
        if (!row || !takes_columns_of_phases(*row, problem)) continue;
        if (!takes(*row, conv2d_fields(pass.operands.problem, device.type()), device)) continue;
        pass.kernel = row;
        taken = true;
    }
    if (row && !taken) passes.emplace_back(kData, tensors.operands(problem), row, device);
    return !phases.all_pixels;
}

Conv2dOperands bias_operands(const Tensor &output_gradient, const Tensor &bias_gradient,
                             Layout layout) {
    Conv2dOperands operands;
    operands.problem =
        bias_problem(kBias.name, output_gradient.shape(), output_gradient.type(), layout);
    operands.output = image_view(output_gradient, layout, 1);
    operands.bias = vector_of_filters(bias_gradient, operands.problem);
    return operands;
}

// The gradient of a weight in parts (conv2d_backward/parts.h), in a tree: a node adds its children
// up, so that a type of 16 bits rounds once more a level, however many parts there are.
class WeightTree {
public:
    // `whole`: with the tensors' operands in it.
    WeightTree(const Pass &whole, const Conv2dProblem &problem,
               const Conv2dBackwardTensors &tensors, const Stream &stream)
        : whole_(whole),
          problem_(problem),
          tensors_(tensors),
          stream_(stream),
          parts_(*whole.kernel, whole.operands.problem) {}

    int64_t parts() const { return parts_.count(); }

    // `count` parts from `first` on.
    void add(int64_t first, int64_t count, const Tensor &gradient, bool accumulate,
             CallContext &context) const {
        if (count == 1) return add_part(first, gradient, accumulate, context);
        const int64_t bytes = gradient.elements() * size_of(gradient.type());
        const int64_t most = weight_parts_at_once(bytes);
        const int64_t of_each = (count + most - 1) / most,
                      children = (count + of_each - 1) / of_each;
        Shape shape = gradient.shape();
        shape.insert(shape.begin(), children);
        const Tensor sums(shape, gradient.type(), gradient.device());
        const Operand memory[] = {{"sums of parts", sums}};
        OperationCall on_them(kWeight.name, gradient.device(), memory, stream_);
        for (int64_t i = 0; i < children; i++) {
            const int64_t of_child = std::min(of_each, count - i * of_each);
            add(first + i * of_each, of_child, sums.slice(0, i, 1).reshape(gradient.shape()), false,
                on_them);
        }
        add_up(sums, gradient, 0, accumulate, on_them);
    }

private:
    void add_part(int64_t i, const Tensor &gradient, bool accumulate, CallContext &context) const {
        Conv2dOperands operands =
            conv2d_operands(problem_, tensors_.input, gradient, {}, {}, tensors_.output_gradient);
        kWeight.normalise(operands);
        parts_.cut(i, operands);
        kWeight.call(*whole_.kernel, operands, accumulate, context, on_own_queue(stream_));
    }

    // A bias' gradient of as many images as children, the filter's elements its channels. They are
    // next to each other, as those of biases are, below `dim`.
    void add_up(const Tensor &sums, const Tensor &gradient, int dim, bool accumulate,
                CallContext &context) const {
        if (!gradient.packed() || sums.elements() > kMostAtOnce) {
            for (int64_t i = 0; i < gradient.shape()[dim]; i++)
                add_up(sums.slice(dim + 1, i, 1), gradient.slice(dim, i, 1), dim + 1, accumulate,
                       context);
            return;
        }
        const int64_t size = gradient.elements();
        const Pass pass(kBias,
                        bias_operands(sums.reshape({sums.shape()[0], 1, 1, size}),
                                      gradient.reshape({size}), Layout::nhwc),
                        nullptr, gradient.device());
        kBias.call(*pass.kernel, pass.operands, accumulate, context, on_own_queue(stream_));
    }

    static constexpr int64_t kMostAtOnce = 1 << 28;  // kernels count bytes in 32 bits

    const Pass &whole_;
    const Conv2dProblem &problem_;
    const Conv2dBackwardTensors &tensors_;
    const Stream &stream_;
    const WeightParts parts_;
};

void run(const char *operation, const KernelInfo *row, const Conv2dBackwardTensors &tensors,
         const Conv2dOptions &options, float beta, const Stream &stream) try {
    const auto &gradients = tensors.gradients;
    const Conv2dProblem problem = check_conv2d_backward(operation, tensors, options, beta);
    const Tensor &output = tensors.output_gradient;
    const Device device = output.device();
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
        zeros_between =
            add_data(passes, problem, {output, tensors.weight, gradients.input}, row, device);
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

Selection select_pass(const Family &family, const Conv2dProblem &problem, DeviceType device,
                      const DeviceLimits &limits, bool explain) {
    return select(family.kernels(), conv2d_fields(normalised(problem, family.normalise)), device,
                  limits, explain);
}

void check_defined(const Family &family, const char *name, const Tensor &tensor) {
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
    const Conv2dShapes shapes(problem);
    const DataTensors tensors{shapes.output, shapes.weight, shapes.input};
    const auto on_cpu_in_phases = [&] {
        return !row_for_strides(conv2d_fields(normalised(problem, normalise_backward_data)),
                                Device::cpu());
    };
    const bool in_phases =
        is_strided(problem) &&
        (device == DeviceType::cpu ? on_cpu_in_phases()
                                   : tensor_cores_take_phases(problem, tensors, device, limits));
    const DataPhases phases = in_phases ? data_phases(problem) : DataPhases();
    if (phases.phases.empty()) return select_pass(kData, problem, device, limits, explain);
    Conv2dOperands operands = tensors.operands(problem, with_most_taps(phases));
    normalise_backward_data(operands);
    Selection selection =
        select(kData.kernels(), conv2d_fields(operands.problem), device, limits, explain);
    std::erase_if(selection.ladder, [&](const Rung &rung) {
        return !takes_columns_of_phases(*rung.kernel, problem);
    });
    return selection;
}

Selection select_conv2d_backward_weight(const Conv2dProblem &problem, DeviceType device,
                                        const DeviceLimits &limits, bool explain) {
    return select_pass(kWeight, problem, device, limits, explain);
}

Selection select_conv2d_backward_bias(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain) {
    const Conv2dProblem bias =
        bias_problem(kBias.name, problem.output_shape(), problem.type, problem.options.layout);
    return select_pass(kBias, bias, device, limits, explain);
}

}  // namespace hk
