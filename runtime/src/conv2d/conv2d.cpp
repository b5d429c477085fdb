#include "hk/conv2d.h"

#include <optional>

#include "conv2d/filter.h"
#include "convolution/channels_last.h"
#include "convolution/check.h"
#include "convolution/halo.h"
#include "convolution/line.h"
#include "convolution/operands.h"
#include "convolution/prepared_filter.h"
#include "convolution/sum_parts.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "rethrow.h"
#include "selection_cache.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "conv2d";

void call(const KernelInfo &kernel, Conv2dOperands &operands, const Filter &filter,
          CallContext &context, bool own_queue) {
    using Use = KernelBuffer::Use;
    std::optional<Line> line;
    if (takes_line(kernel)) line = Line::join({&operands.output, &operands.residual});
    std::optional<Planes> planes;
    if (takes_planes(kernel)) planes = Planes::join({&operands.output, &operands.residual});
    const auto role = [&](const char *operand, Use use) {
        return KernelBuffer::Role{kOperation, operand, use, own_queue};
    };
    const auto optional = [](bool present) { return present ? Use::read : Use::absent; };
    KernelBuffer input(operands.input, role("input", Use::read));
    KernelBuffer weight(filter_view(kernel, operands, filter), role("weight", Use::read));
    KernelBuffer bias(operands.bias, role("bias", optional(operands.has_bias)));
    // In place: one buffer, for two that overlap are undefined in OpenCL.
    const bool in_place = operands.problem.in_place;
    KernelBuffer output(operands.output, role("output", in_place ? Use::update : Use::write));
    std::optional<KernelBuffer> apart;
    if (!in_place)
        apart.emplace(operands.residual, role("residual", optional(operands.has_residual)));
    KernelBuffer &residual = in_place ? output : *apart;

    const Conv2dOptions &options = operands.problem.options;
    KernelArguments arguments(kOperation, kernel);
    arguments.add({{"input", input}, {"weight", weight}, {"bias", bias}, {"residual", residual}})
        .add(Conv2dNumbers(options).named())
        .add({{"has_bias", operands.has_bias}, {"has_residual", operands.has_residual}})
        .add(activation_arguments(activation_options(options)).named())
        .add({{"output", output}});
    if (line) arguments.add(line->named());
    if (planes) arguments.add(planes->named());
    if (counts_line(kernel)) arguments.add(Line(operands.output, options.layout).divisors());
    if (takes_halo(kernel)) arguments.add(Halo::of_output(operands.problem).named());
    if (takes_parts(kernel)) arguments.add(SumParts(sum_sizes(operands.problem)).named());
    call_kernel(context, arguments);
    output.finish();
}

void run(const KernelInfo *row, const Conv2dTensors &tensors, const Filter &filter,
         const Conv2dOptions &options, const Stream &stream);

// Of images in nchw, on a CPU, by a row of nhwc. A residual whose place the output takes is copied,
// too.
void run_on_copies(const KernelInfo *row, const Conv2dTensors &tensors, const Filter &filter,
                   Conv2dOptions options, const Stream &stream) {
    options.layout = Layout::nhwc;
    const Tensor input = copied_channels_last(tensors.input);
    const Tensor residual = copied_channels_last(tensors.residual);
    const Tensor weight = filter.is_prepared() ? Tensor() : copied_channels_last(filter.tensor());
    const Filter last = filter.is_prepared() ? filter.prepared()->channels_last() : Filter(weight);
    const Tensor view = channels_last(tensors.output.tensor());
    const bool there = channels_are_neighbours(view) && !tensors.output.is_inplace();
    const Tensor output = there ? view : Tensor(view.shape(), view.type(), view.device());
    run(row, {input, last.tensor(), tensors.bias, residual, output}, last, options, stream);
    if (!there) view.copy_from(output);
}

// `row`: null for the one that selection takes.
void run(const KernelInfo *row, const Conv2dTensors &tensors, const Filter &filter,
         const Conv2dOptions &options, const Stream &stream) try {
    Conv2dProblem problem = check_conv2d(tensors, options);
    problem.prepared_filter = filter.is_prepared();
    const Device device = tensors.input.device();
    const Operand all[] = {{"input", tensors.input},
                           {"weight", tensors.weight},
                           {"bias", tensors.bias},
                           {"residual", tensors.residual},
                           {"output", tensors.output.tensor()}};
    OperationCall context(kOperation, device, all, stream);
    const bool own_queue = on_own_queue(stream);
    Tensor copy;
    const Tensor &bias = packed_vector(kOperation, "bias", tensors.bias, own_queue, copy);
    Conv2dOperands operands = conv2d_operands(problem, tensors.input, tensors.weight, bias,
                                              tensors.residual, tensors.output.tensor());
    if (!operands.has_bias) {
        operands.bias = absent_vector({&tensors.weight}, problem.type, problem);
    }
    normalise(operands);
    check_fit_kernel(kOperation, operands);

    const auto describe = [&] { return detail::to_string(operands.problem); };
    const Fields fields = conv2d_fields(operands.problem, device);
    SelectionCache &rows = selections<conv2d_kernels>(kOperation);
    const KernelInfo *const first = row ? nullptr : rows.find_any(fields, device, describe);
    if (device.is_cpu() && fields.layout == Layout::nchw &&
        (row ? row->layout == Layout::nhwc : !first))
        return run_on_copies(row, tensors, filter, options, stream);
    const KernelInfo &kernel = first ? *first : rows.find(row, fields, device, describe);
    if (tensors.output.tensor().elements() > 0) {
        call(kernel, operands, filter, context, own_queue);
    }
} catch (...) {
    rethrow_as_error(kOperation);
}

}  // namespace

void conv2d(const Tensor &input, const Filter &weight, const Tensor &bias, const Tensor &residual,
            const Output &output, const Conv2dOptions &options, const Stream &stream) {
    run(nullptr, {input, weight.tensor(), bias, residual, output}, weight, options, stream);
}

Tensor conv2d(const Tensor &input, const Filter &filter, const Tensor &bias, const Tensor &residual,
              const Conv2dOptions &options) try {
    const Tensor &weight = filter.tensor();
    if (!input.defined() || !weight.defined()) {
        throw InvalidArgument(std::string("conv2d: ") + (input.defined() ? "weight" : "input") +
                              " is undefined");
    }
    const Conv2dProblem problem =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), input.type(), options);
    Tensor output(problem.output_shape(), input.type(), input.device());
    conv2d(input, filter, bias, residual, output, options);
    return output;
} catch (...) {
    rethrow_as_error(kOperation);
}

void conv2d_with(const KernelInfo &kernel, const Tensor &input, const Filter &weight,
                 const Tensor &bias, const Tensor &residual, const Output &output,
                 const Conv2dOptions &options, const Stream &stream) {
    run(&kernel, {input, weight.tensor(), bias, residual, output}, weight, options, stream);
}

Selection select_conv2d(const Conv2dProblem &problem, DeviceType device, const DeviceLimits &limits,
                        bool explain) {
    const auto select_of = [&](const Conv2dProblem &problem) {
        return select(conv2d_kernels(), conv2d_fields(normalised(problem), {device, limits}),
                      device, limits, explain);
    };
    return or_of_copies(select_of(problem), problem, device, [&](Conv2dProblem last) {
        last.in_place = false;
        return select_of(last);
    });
}

}  // namespace hk
