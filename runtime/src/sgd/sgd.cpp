#include "hk/sgd.h"

#include <cmath>
#include <optional>

#include "elementwise/elementwise.h"
#include "hk/error.h"
#include "operand_check.h"
#include "rethrow.h"

namespace hk {

using namespace detail;

namespace {

constexpr const char *kOperation = "sgd_step";

[[noreturn]] void fail(const std::string &what) {
    throw InvalidArgument(std::string(kOperation) + ": " + what);
}

void check_number(const char *name, float value) {
    if (std::isfinite(value) && value >= 0) return;
    fail(std::string(name) + " is " + std::to_string(value) + ", it must be finite and at least 0");
}

void check_options(const SgdOptions &options) {
    check_number("learning_rate", options.learning_rate);
    check_number("momentum", options.momentum);
    check_number("weight_decay", options.weight_decay);
    if (options.nesterov && options.momentum == 0) fail("nesterov asks for a momentum, it is 0");
}

// Parameter, velocity, gradient.
void check_operands(std::span<const Operand> operands, float momentum) {
    const Operand &parameter = operands[0], &velocity = operands[1], &gradient = operands[2];
    check_elementwise(kOperation, operands);
    if (!gradient.tensor.defined()) fail("gradient is undefined");
    if (momentum != 0 && !velocity.tensor.defined()) {
        fail("velocity is undefined, momentum is " + std::to_string(momentum));
    }
    check_elements_disjoint(kOperation, parameter);
    check_disjoint(kOperation, gradient, parameter);
    if (!velocity.tensor.defined()) return;
    check_elements_disjoint(kOperation, velocity);
    check_disjoint(kOperation, velocity, parameter);
    check_disjoint(kOperation, gradient, velocity);
}

const KernelInfo &kernel_for(const KernelInfo *given, const Elementwise &problem, DataType type,
                             bool has_momentum, Device device) {
    Fields fields = elementwise_fields(problem, type);
#include "sgd/fields.def"
    return selections<sgd_kernels>(kOperation).find(given, fields, device, [&] {
        return to_string(kOperation, problem, type) + (has_momentum ? ", momentum" : "");
    });
}

void run(const KernelInfo *kernel, const Tensor &parameter, const Tensor &velocity,
         const Tensor &gradient, const SgdOptions &options, const Stream &stream) try {
    using Use = KernelBuffer::Use;
    const bool has_momentum = options.momentum != 0;
    const Operand operands[] = {
        {"parameter", parameter}, {"velocity", velocity}, {"gradient", gradient}};
    check_options(options);
    check_operands(operands, options.momentum);
    const Device device = parameter.device();
    OperationCall context(kOperation, device, operands, stream);
    if (parameter.elements() == 0) return;
    const Tensor none;
    const Operand used[] = {operands[0], {"velocity", has_momentum ? velocity : none}, operands[2]};
    const Elementwise problem = elementwise(used);
    kernel = &kernel_for(kernel, problem, parameter.type(), has_momentum, device);
    const bool own_queue = on_own_queue(stream);
    for (const Elementwise::Call &call : problem.calls) {
        KernelBuffer g(call[2], {kOperation, "gradient", Use::read, own_queue});
        KernelBuffer p(call[0], {kOperation, "parameter", Use::update, own_queue});
        std::optional<KernelBuffer> v;
        if (has_momentum) {
            v.emplace(call[1], KernelBuffer::Role{kOperation, "velocity", Use::update, own_queue});
        }
        KernelArguments arguments(kOperation, *kernel);
        arguments.add({{"gradient", g},
                       {"learning_rate", options.learning_rate},
                       {"momentum", options.momentum},
                       {"weight_decay", options.weight_decay},
                       {"nesterov", options.nesterov}});
        if (v) {
            arguments.add({{"updated_0", p}, {"updated_1", *v}});
        } else {
            arguments.add({{"updated", p}});
        }
        call_kernel(context, arguments);
        p.finish();
        if (v) v->finish();
    }
} catch (...) {
    rethrow_as_error(kOperation);
}

}  // namespace

void sgd_step(const Tensor &parameter, const Tensor &velocity, const Tensor &gradient,
              const SgdOptions &options, const Stream &stream) {
    run(nullptr, parameter, velocity, gradient, options, stream);
}

void sgd_step_with(const KernelInfo &kernel, const Tensor &parameter, const Tensor &velocity,
                   const Tensor &gradient, const SgdOptions &options, const Stream &stream) {
    run(&kernel, parameter, velocity, gradient, options, stream);
}

}  // namespace hk
