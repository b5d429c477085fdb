#include "hk/activation.h"

#include <cmath>
#include <limits>

#include "activation_arguments.h"
#include "elementwise/elementwise.h"
#include "hk/error.h"
#include "operand_check.h"
#include "rethrow.h"

namespace hk {

using namespace detail;

namespace {

using Use = KernelBuffer::Use;

constexpr const char *kForward = "activate", *kBackward = "activate_backward";

Use use_of_output(const Output &output) { return output.is_inplace() ? Use::update : Use::write; }

[[noreturn]] void fail_undefined(const char *operation, const char *name) {
    throw InvalidArgument(std::string(operation) + ": " + name + " is undefined");
}

void run_forward(const KernelInfo *kernel, const Tensor &input, const Output &output,
                 const ActivationOptions &options, const Stream &stream) try {
    const Operand operands[] = {{"output", output.tensor()}, {"input", input}};
    check_elementwise(kForward, operands);
    if (!input.defined()) fail_undefined(kForward, "input");
    check_activation(kForward, options);
    check_elements_disjoint(kForward, operands[0]);
    const Input inputs[] = {{operands[1], true}};
    check_output(kForward, "output", output, inputs);
    const Device device = input.device();
    OperationCall context(kForward, device, operands, stream);
    if (input.elements() == 0) return;
    const Elementwise problem = elementwise(operands);
    kernel = &selections<activate_kernels>(kForward).find(
        kernel, elementwise_fields(problem, input.type()), device,
        [&] { return to_string(kForward, problem, input.type()); });
    const auto numbers = activation_arguments(options).named();
    const bool own_queue = on_own_queue(stream);
    for (const Elementwise::Call &call : problem.calls) {
        KernelBuffer to(call[0], {kForward, "output", use_of_output(output), own_queue});
        InputBuffer from(call[1], call[0], to, {kForward, "input", Use::read, own_queue});
        call_kernel(context, KernelArguments(kForward, *kernel)
                                 .add({{"input", from}})
                                 .add(numbers)
                                 .add({{"output", to}}));
        to.finish();
    }
} catch (...) {
    rethrow_as_error(kForward);
}

// A bound as activate stores it, and NaN where there is none
// (generators/activation/activate_backward.h).
float stored_bound(DataType type, float bound) {
    if (std::isinf(bound)) return std::numeric_limits<float>::quiet_NaN();
    if (type == DataType::f16) return f32_from_f16(f16_from_f32(bound));
    if (type == DataType::bf16) return f32_from_bf16(bf16_from_f32(bound));
    return bound;
}

ActivationArguments backward_arguments(DataType type, const ActivationOptions &options) {
    ActivationArguments f = activation_arguments(options);
    // One value for all numbers, which may be infinite: any two equal bounds stop all gradients.
    if (f.low == f.high) f.low = f.high = 0;
    f.low = stored_bound(type, f.low);
    f.high = stored_bound(type, f.high);
    return f;
}

void run_backward(const KernelInfo *kernel, const Tensor &output_gradient, const Tensor &saved,
                  const Output &input_gradient, const ActivationOptions &options,
                  const Stream &stream) try {
    // A kernel reads what is saved whatever the activation is: where there is none, what is there.
    const Operand operands[] = {{"input_gradient", input_gradient.tensor()},
                                {"output_gradient", output_gradient},
                                {"saved", saved.defined() ? saved : output_gradient}};
    check_elementwise(kBackward, operands);
    if (!output_gradient.defined()) fail_undefined(kBackward, "output_gradient");
    check_activation(kBackward, options);
    if (!saved.defined() && options.activation != Activation::none) {
        fail_undefined(kBackward, "saved");
    }
    check_elements_disjoint(kBackward, operands[0]);
    const Input inputs[] = {{operands[1], true}, {operands[2], true}};
    check_output(kBackward, "input_gradient", input_gradient, inputs);
    const Device device = output_gradient.device();
    OperationCall context(kBackward, device, operands, stream);
    if (output_gradient.elements() == 0) return;
    const Elementwise problem = elementwise(operands);
    kernel = &selections<activate_backward_kernels>(kBackward).find(
        kernel, elementwise_fields(problem, output_gradient.type()), device,
        [&] { return to_string(kBackward, problem, output_gradient.type()); });
    const auto numbers = backward_arguments(output_gradient.type(), options).named();
    const bool own_queue = on_own_queue(stream);
    for (const Elementwise::Call &call : problem.calls) {
        KernelBuffer to(call[0],
                        {kBackward, "input_gradient", use_of_output(input_gradient), own_queue});
        InputBuffer from(call[1], call[0], to,
                         {kBackward, "output_gradient", Use::read, own_queue});
        InputBuffer kept(call[2], call[0], to, {kBackward, "saved", Use::read, own_queue});
        call_kernel(context, KernelArguments(kBackward, *kernel)
                                 .add({{"output_gradient", from}, {"saved", kept}})
                                 .add(numbers)
                                 .add({{"input_gradient", to}}));
        to.finish();
    }
} catch (...) {
    rethrow_as_error(kBackward);
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
