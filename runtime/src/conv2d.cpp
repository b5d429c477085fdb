#include "hk/conv2d.h"

#include <array>

#include "backend.h"
#include "conv2d_check.h"
#include "conv2d_operands.h"
#include "hk/error.h"
#include "kernel_call.h"
#include "selection_cache.h"
#include "storage.h"

namespace hk {

using namespace detail;

namespace {

// All of a normalised problem that selection may look at.
SelectionCache::Problem key_of(const Conv2dProblem &problem) {
    const Conv2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    return {static_cast<int64_t>(problem.type),
            static_cast<int64_t>(options.layout),
            problem.batch,
            problem.channels,
            problem.height,
            problem.width,
            problem.filters,
            problem.kernel_height,
            problem.kernel_width,
            options.stride[0],
            options.stride[1],
            options.dilation[0],
            options.dilation[1],
            padding.top,
            padding.bottom,
            padding.left,
            padding.right,
            options.groups};
}

Selection select_normalised(const Conv2dProblem &problem, DeviceType device,
                            const DeviceLimits &limits, bool explain) {
    return select(
        conv2d_kernels(), problem.type, problem.options.layout, device, limits,
        [&](std::string_view field) { return conv2d_field(problem, field); }, explain);
}

// The row of a normalised problem.
const KernelInfo &kernel_for(const Conv2dProblem &problem, Device device) {
    static SelectionCache cache("conv2d", conv2d_kernels());
    return cache.find(
        key_of(problem), device,
        [&](const DeviceLimits &limits, bool explain) {
            return select_normalised(problem, device.type(), limits, explain);
        },
        [&] { return detail::to_string(problem); });
}

void call(const KernelInfo &kernel, const Conv2dOperands &operands, CallContext &context,
          bool own_queue) {
    using Use = KernelBuffer::Use;
    const auto role = [&](const char *operand, Use use) {
        return KernelBuffer::Role{"conv2d", operand, use, own_queue};
    };
    const auto optional = [](bool present) { return present ? Use::read : Use::absent; };
    KernelBuffer input(operands.input, role("input", Use::read));
    KernelBuffer weight(operands.weight, role("weight", Use::read));
    KernelBuffer bias(operands.bias, role("bias", optional(operands.has_bias)));
    KernelBuffer residual(operands.residual, role("residual", optional(operands.has_residual)));
    KernelBuffer output(operands.output, role("output", Use::write));

    const Conv2dOptions &options = operands.problem.options;
    const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
    int32_t stride_x = number(options.stride[1]), stride_y = number(options.stride[0]);
    int32_t dilation_x = number(options.dilation[1]), dilation_y = number(options.dilation[0]);
    int32_t padding_left = number(options.padding.left), padding_top = number(options.padding.top);
    bool has_bias = operands.has_bias, has_residual = operands.has_residual;
    ActivationArguments activation = activation_arguments(options);
    // As the generator declares them; call_kernel sets the first.
    void *arguments[] = {
        nullptr,          input.get(),        weight.get(),  bias.get(),        residual.get(),
        &stride_x,        &stride_y,          &dilation_x,   &dilation_y,       &padding_left,
        &padding_top,     &has_bias,          &has_residual, &activation.slope, &activation.low,
        &activation.high, &activation.smooth, output.get()};
    call_kernel("conv2d", kernel, context, arguments);
    output.finish();
}

// Kernels need a bias of stride 1; a copy is small.
Tensor packed_bias(const Tensor &bias, bool own_queue) {
    if (!bias.defined() || bias.packed()) return bias;
    if (!own_queue && !bias.device().is_cpu()) {
        throw InvalidArgument("conv2d: bias has the stride " + std::to_string(bias.strides()[0]) +
                              ", on a caller's queue it must be 1");
    }
    return bias.to(bias.device());
}

void check_row_takes(const KernelInfo &kernel, const Conv2dProblem &problem, Device device) {
    const auto kind = [](DeviceType device, DataType type, Layout layout) {
        return std::string(name_of(device)) + " " + std::string(name_of(type)) + " " +
               std::string(name_of(layout));
    };
    const std::string row = kind(kernel.device, kernel.type, kernel.layout);
    const std::string wanted = kind(device.type(), problem.type, problem.options.layout);
    if (row != wanted) {
        throw InvalidArgument(std::string("conv2d: kernel ") + kernel.name + " is for " + row +
                              ", the problem is " + wanted);
    }
    const Selection selection = select(
        {&kernel, 1}, kernel.type, kernel.layout, kernel.device, device.limits(),
        [&](std::string_view field) { return conv2d_field(problem, field); }, true);
    if (!selection.kernel) {
        throw InvalidArgument(std::string("conv2d: kernel ") + kernel.name +
                              " does not take the problem: " + selection.rejected[0].reason);
    }
}

// The stream that the call runs on, with both handles; every tensor can be used there.
Stream complete_stream(const Conv2dTensors &tensors, const Stream &stream) {
    const Device device = tensors.input.device();
    if (device.is_cpu()) return {};
    Backend &backend = require(device);
    const Stream complete = backend.resolve("conv2d", device.index(), stream);
    const std::pair<const char *, const Tensor &> operands[] = {{"input", tensors.input},
                                                                {"weight", tensors.weight},
                                                                {"bias", tensors.bias},
                                                                {"residual", tensors.residual},
                                                                {"output", tensors.output}};
    for (const auto &[name, tensor] : operands) {
        if (!tensor.defined() || tensor.elements() == 0) continue;
        if (!backend.reachable(Tensor::Access::storage(tensor).memory, complete)) {
            throw InvalidArgument(std::string("conv2d: ") + name +
                                  " belongs to another context of " + device.name() +
                                  " than the stream");
        }
    }
    return complete;
}

// `kernel`: null for the one that selection takes.
void run(const KernelInfo *kernel, const Conv2dTensors &tensors, const Conv2dOptions &options,
         const Stream &stream) {
    const Conv2dProblem problem = check_conv2d(tensors, options);
    const Device device = tensors.input.device();
    CallContext context(device, complete_stream(tensors, stream));
    const bool own_queue = !stream.context && !stream.handle;
    const Tensor bias = packed_bias(tensors.bias, own_queue);
    Conv2dOperands operands = conv2d_operands(problem, tensors.input, tensors.weight, bias,
                                              tensors.residual, tensors.output);
    normalise(operands);
    check_fits_kernel("conv2d", "input", operands.input);
    check_fits_kernel("conv2d", "weight", operands.weight);
    check_fits_kernel("conv2d", "output", operands.output);
    if (operands.has_residual) check_fits_kernel("conv2d", "residual", operands.residual);

    if (!kernel) {
        kernel = &kernel_for(operands.problem, device);
    } else {
        check_row_takes(*kernel, operands.problem, device);
    }
    if (tensors.output.elements() > 0) {
        call(*kernel, operands, context, own_queue);
    }
}

}  // namespace

void conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias, const Tensor &residual,
            const Tensor &output, const Conv2dOptions &options, const Stream &stream) {
    run(nullptr, {input, weight, bias, residual, output}, options, stream);
}

Tensor conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias,
              const Conv2dOptions &options) {
    if (!input.defined() || !weight.defined()) {
        throw InvalidArgument(std::string("conv2d: ") + (input.defined() ? "weight" : "input") +
                              " is undefined");
    }
    const Conv2dProblem problem =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), input.type(), options);
    Tensor output(problem.output_shape(), input.type(), input.device());
    conv2d(input, weight, bias, {}, output, options);
    return output;
}

void conv2d_with(const KernelInfo &kernel, const Tensor &input, const Tensor &weight,
                 const Tensor &bias, const Tensor &residual, const Tensor &output,
                 const Conv2dOptions &options, const Stream &stream) {
    run(&kernel, {input, weight, bias, residual, output}, options, stream);
}

Selection select_conv2d(const Conv2dProblem &problem, DeviceType device, const DeviceLimits &limits,
                        bool explain) {
    return select_normalised(normalised(problem), device, limits, explain);
}

}  // namespace hk
