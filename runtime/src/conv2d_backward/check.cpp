#include "conv2d_backward/check.h"

#include <algorithm>
#include <array>
#include <vector>

#include "convolution/weight_order.h"
#include "hk/error.h"

namespace hk::detail {

namespace {

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

// What a call reads and what it writes: tensors that no gradient needs do not take part.
struct Parts {
    explicit Parts(const Conv2dBackwardTensors &t) {
        read.push_back({"output gradient", t.output_gradient});
        if (t.gradients.weight.defined()) read.push_back({"input", t.input});
        if (t.gradients.input.defined()) read.push_back({"weight", t.weight});
        for (const Operand &gradient : {Operand{"input gradient", t.gradients.input},
                                        {"weight gradient", t.gradients.weight},
                                        {"bias gradient", t.gradients.bias}}) {
            if (gradient.tensor.defined()) written.push_back(gradient);
        }
    }

    std::vector<Operand> read, written;
};

void check_present(const char *operation, const Parts &parts) {
    for (const Operand &operand : parts.read) {
        if (!operand.tensor.defined()) fail(operation, std::string(operand.name) + " is undefined");
    }
    const Operand &first = parts.read.front();
    for (const auto *operands : {&parts.read, &parts.written}) {
        for (const Operand &operand : *operands) {
            check_device(operation, operand, first);
            check_type(operation, operand, first);
        }
    }
    check_float(operation, first.tensor.type());
}

// The convolution from the shapes of the input and the weight, each itself or its gradient.
Conv2dProblem geometry(const char *operation, const Conv2dBackwardTensors &t,
                       const Conv2dOptions &options) {
    const auto &g = t.gradients;
    if (!g.input.defined() && !g.weight.defined()) {
        return bias_problem(operation, t.output_gradient.shape(), t.output_gradient.type(),
                            options.layout);
    }
    const Tensor &input = g.input.defined() ? g.input : t.input;
    const Tensor &weight = g.weight.defined() ? g.weight : t.weight;
    return conv2d_geometry_of_weight(operation, input.shape(), weight.shape(),
                                     t.output_gradient.type(), options);
}

void check_shapes(const char *operation, const Conv2dProblem &problem,
                  const Conv2dBackwardTensors &t) {
    const auto &g = t.gradients;
    check_shape(operation, {"output gradient", t.output_gradient}, problem.output_shape());
    if (g.input.defined() && g.weight.defined()) {
        check_shape(operation, {"input gradient", g.input}, t.input.shape());
        check_shape(operation, {"weight gradient", g.weight}, t.weight.shape());
    }
    check_shape(operation, {"bias gradient", g.bias}, std::array{problem.filters});
}

void check_memory(const char *operation, const Parts &parts, Layout layout) {
    for (const auto *operands : {&parts.read, &parts.written}) {
        for (const Operand &operand : *operands) {
            const bool vector = operand.tensor.rank() == 1;
            check_innermost(operation, operand, vector ? "elements" : innermost_elements(layout));
        }
    }
    for (size_t i = 0; i < parts.written.size(); i++) {
        const Operand &gradient = parts.written[i];
        check_elements_disjoint(operation, gradient);
        for (const Operand &operand : parts.read) check_disjoint(operation, operand, gradient);
        for (size_t j = 0; j < i; j++) check_disjoint(operation, parts.written[j], gradient);
    }
}

}  // namespace

Conv2dProblem check_conv2d_backward(const char *operation, const Conv2dBackwardTensors &tensors,
                                    const Conv2dOptions &options, float beta) {
    if (beta != 0 && beta != 1) {
        fail(operation, "beta is " + std::to_string(beta) + ", it must be 0 or 1");
    }
    check_activation(operation, activation_options(options));
    if (options.activation != Activation::none) {
        fail(operation,
             "the activation is " + std::string(name_of(options.activation)) + ", it must be none");
    }
    const Parts parts(tensors);
    check_present(operation, parts);
    Conv2dProblem problem = geometry(operation, tensors, options);
    problem.in_place = beta == 1;
    check_shapes(operation, problem, tensors);
    check_memory(operation, parts, options.layout);
    return problem;
}

Conv2dProblem bias_problem(const char *operation, const Shape &output, DataType type,
                           Layout layout) {
    if (output.size() != 4) {
        fail(operation, "output gradient has " + std::to_string(output.size()) + " dimensions, " +
                            hk::to_string(output) + ", it needs 4");
    }
    if (std::find(output.begin() + 1, output.end(), 0) != output.end()) {
        fail(operation, "output gradient has shape " + hk::to_string(output) +
                            ", of which only the batch may be 0");
    }
    const bool nhwc = layout == Layout::nhwc;
    Shape input = output;
    input[nhwc ? 3 : 1] = 1;
    return conv2d_geometry(operation, input, {output[nhwc ? 3 : 1], 1, 1, 1}, type,
                           {.layout = layout});
}

}  // namespace hk::detail
