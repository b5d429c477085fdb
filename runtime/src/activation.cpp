#include "hk/activation.h"

#include <cmath>
#include <limits>

#include "activation_arguments.h"
#include "elementwise.h"
#include "hk/error.h"
#include "operand_check.h"

namespace hk {

using namespace detail;

namespace {

using Use = KernelBuffer::Use;

[[noreturn]] void fail_undefined(const char *operation, const char *name) {
    throw InvalidArgument(std::string(operation) + ": " + name + " is undefined");
}

void run_forward(const KernelInfo *kernel, const Tensor &input, const Output &output,
                 const ActivationOptions &options, const Stream &stream) {
    constexpr const char *kOperation = "activate";
    static ElementwiseRows rows(kOperation, activate_kernels());
    const Operand operands[] = {{"output", output.tensor()}, {"input", input}};
    check_elementwise(kOperation, operands);
    if (!input.defined()) fail_undefined(kOperation, "input");
    check_activation(kOperation, options);
    check_elements_apart(kOperation, operands[0]);
    const Input inputs[] = {{operands[1], true}};
    check_output(kOperation, "output", output, inputs);
    const Device device = input.device();
    OperationCall context(kOperation, device, operands, stream);
    if (input.elements() == 0) return;
    const Elementwise problem = elementwise(operands);
    kernel = &rows.find(kernel, problem, input.type(), device);
    ActivationArguments f = activation_arguments(options);
    const bool own_queue = on_own_queue(stream);
    for (const Elementwise::Call &call : problem.calls) {
        KernelBuffer from(call[1], {kOperation, "input", Use::read, own_queue});
        KernelBuffer to(call[0], {kOperation, "output", Use::write, own_queue});
        // As the generator declares them; call_kernel sets the first.
        void *arguments[] = {nullptr, from.get(), &f.slope, &f.low, &f.high, &f.smooth, to.get()};
        call_kernel(kOperation, *kernel, context, arguments);
        to.finish();
    }
}

// A bound as activate stores it, and NaN where there is none (generators/activate_backward.h).
float stored_bound(DataType type, float bound) {
    if (std::isinf(bound)) return std::numeric_limits<float>::quiet_NaN();
    if (type == DataType::f16) return f32_from_f16(f16_from_f32(bound));
    if (type == DataType::bf16) return f32_from_bf16(bf16_from_f32(bound));
    return bound;
}

void run_backward(const KernelInfo *kernel, const Tensor &output_gradient, const Tensor &saved,
                  const Output &input_gradient, const ActivationOptions &options,
                  const Stream &stream) {
    constexpr const char *kOperation = "activate_backward";
    static ElementwiseRows rows(kOperation, activate_backward_kernels());
    const Operand operands[] = {{"input_gradient", input_gradient.tensor()},
                                {"output_gradient", output_gradient},
                                {"saved", saved}};
    check_elementwise(kOperation, operands);
    if (!output_gradient.defined()) fail_undefined(kOperation, "output_gradient");
    check_activation(kOperation, options);
    if (!saved.defined() && options.activation != Activation::none) {
        fail_undefined(kOperation, "saved");
    }
    check_elements_apart(kOperation, operands[0]);
    const Input inputs[] = {{operands[1], true}, {operands[2], true}};
    check_output(kOperation, "input_gradient", input_gradient, inputs);
    const Device device = output_gradient.device();
    OperationCall context(kOperation, device, operands, stream);
    if (output_gradient.elements() == 0) return;
    const Elementwise problem = elementwise(operands);
    kernel = &rows.find(kernel, problem, output_gradient.type(), device);
    ActivationArguments f = activation_arguments(options);
    f.low = stored_bound(output_gradient.type(), f.low);
    f.high = stored_bound(output_gradient.type(), f.high);
    const bool own_queue = on_own_queue(stream);
    const Use use_of_saved = saved.defined() ? Use::read : Use::absent;
    for (const Elementwise::Call &call : problem.calls) {
        KernelBuffer from(call[1], {kOperation, "output_gradient", Use::read, own_queue});
        KernelBuffer kept(call[2], {kOperation, "saved", use_of_saved, own_queue});
        KernelBuffer to(call[0], {kOperation, "input_gradient", Use::write, own_queue});
        void *arguments[] = {nullptr, from.get(), kept.get(), &f.slope,
                             &f.low,  &f.high,    &f.smooth,  to.get()};
        call_kernel(kOperation, *kernel, context, arguments);
        to.finish();
    }
}

}  // namespace

void activate(const Tensor &input, const Output &output, const ActivationOptions &options,
              const Stream &stream) {
    run_forward(nullptr, input, output, options, stream);
}

void activate_backward(const Tensor &output_gradient, const Tensor &saved,
                       const Output &input_gradient, const ActivationOptions &options,
                       const Stream &stream) {
    run_backward(nullptr, output_gradient, saved, input_gradient, options, stream);
}

void activate_with(const KernelInfo &kernel, const Tensor &input, const Output &output,
                   const ActivationOptions &options, const Stream &stream) {
    run_forward(&kernel, input, output, options, stream);
}

void activate_backward_with(const KernelInfo &kernel, const Tensor &output_gradient,
                            const Tensor &saved, const Output &input_gradient,
                            const ActivationOptions &options, const Stream &stream) {
    run_backward(&kernel, output_gradient, saved, input_gradient, options, stream);
}

}  // namespace hk
