#include "conv2d_check.h"

#include <cmath>
#include <limits>

#include "hk/error.h"
#include "shape.h"

namespace hk::detail {

namespace {

struct Operand {
    const char *name;
    const Tensor &tensor;
};

[[noreturn]] void fail(const std::string &what) { throw InvalidArgument("conv2d: " + what); }

void check_alike(const Operand &operand, const Tensor &input) {
    const Tensor &tensor = operand.tensor;
    if (!tensor.defined()) return;
    const std::string name = operand.name;
    if (tensor.type() != input.type()) {
        fail(name + " is " + std::string(name_of(tensor.type())) + ", input is " +
             std::string(name_of(input.type())));
    }
    if (tensor.device() != input.device()) {
        fail(name + " is on " + tensor.device().name() + ", input is on " + input.device().name());
    }
}

void check_shape(const Operand &operand, const Shape &shape) {
    if (operand.tensor.defined() && operand.tensor.shape() != shape) {
        fail(std::string(operand.name) + " has shape " + hk::to_string(operand.tensor.shape()) +
             ", it must have " + hk::to_string(shape));
    }
}

void check_innermost(const Operand &operand, const char *elements) {
    const Tensor &tensor = operand.tensor;
    if (!tensor.defined() || tensor.shape().back() == 1 || tensor.strides().back() == 1) return;
    fail(std::string(operand.name) + "'s " + elements + " have the stride " +
         std::to_string(tensor.strides().back()) + ", no kernel takes another than 1");
}

void check_apart(const Operand &operand, const Tensor &output) {
    if (!operand.tensor.defined() || !output.overlaps(operand.tensor)) return;
    fail(std::string("output and ") + operand.name + " overlap: output has shape " +
         hk::to_string(output.shape()) + " at element " + std::to_string(output.offset()) + ", " +
         operand.name + " " + hk::to_string(operand.tensor.shape()) + " at element " +
         std::to_string(operand.tensor.offset()));
}

void check_activation(const Conv2dOptions &options) {
    const std::string name(name_of(options.activation));
    const auto number = [](float value) { return std::to_string(value); };
    if (options.activation == Activation::clamp && !(options.alpha <= options.beta)) {
        fail("clamp goes from " + number(options.alpha) + " to " + number(options.beta));
    }
    if (options.activation == Activation::leaky_relu && !std::isfinite(options.alpha)) {
        fail("leaky_relu's slope is " + number(options.alpha) + ", it must be finite");
    }
}

}  // namespace

Conv2dProblem check_conv2d(const Conv2dTensors &tensors, const Conv2dOptions &options) {
    const Operand input{"input", tensors.input}, weight{"weight", tensors.weight},
        bias{"bias", tensors.bias}, residual{"residual", tensors.residual},
        output{"output", tensors.output};
    for (const Operand &operand : {input, weight, output}) {
        if (!operand.tensor.defined()) fail(std::string(operand.name) + " is undefined");
    }
    for (const Operand &operand : {weight, bias, residual, output}) {
        check_alike(operand, tensors.input);
    }
    const Conv2dProblem problem = Conv2dProblem::from_shapes(
        tensors.input.shape(), tensors.weight.shape(), tensors.input.type(), options);
    check_activation(options);
    check_shape(output, problem.output_shape());
    check_shape(residual, problem.output_shape());
    check_shape(bias, {problem.filters});
    const char *elements = options.layout == Layout::nhwc ? "channels" : "columns";
    for (const Operand &operand : {input, weight, residual, output}) {
        check_innermost(operand, elements);
    }
    if (overlaps_itself(tensors.output.shape(), tensors.output.strides())) {
        fail("elements of the output overlap: shape " + hk::to_string(tensors.output.shape()) +
             ", strides " + hk::to_string(tensors.output.strides()));
    }
    for (const Operand &operand : {input, weight, bias, residual}) {
        check_apart(operand, tensors.output);
    }
    return problem;
}

ActivationArguments activation_arguments(const Conv2dOptions &options) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    switch (options.activation) {
        case Activation::none:
            return {1, -kInfinity, kInfinity, 0};
        case Activation::relu:
            return {1, 0, kInfinity, 0};
        case Activation::clamp:
            return {1, options.alpha, options.beta, 0};
        case Activation::leaky_relu:
            return {options.alpha, -kInfinity, kInfinity, 0};
        case Activation::silu:
            return {1, -kInfinity, kInfinity, 1};
        case Activation::gelu:
            return {1, -kInfinity, kInfinity, 2};
    }
    fail("activation " + std::to_string(static_cast<int>(options.activation)) + " does not exist");
}

std::string to_string(const Conv2dProblem &problem) {
    const Conv2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    const bool nhwc = options.layout == Layout::nhwc;
    const int64_t per_group = problem.channels / options.groups;
    const auto image = [&](int64_t n, int64_t c, int64_t y, int64_t x) {
        return hk::to_string(nhwc ? Shape{n, y, x, c} : Shape{n, c, y, x});
    };
    std::string text =
        "conv2d " + std::string(name_of(options.layout)) + " " +
        std::string(name_of(problem.type)) + ", input " +
        image(problem.batch, problem.channels, problem.height, problem.width) + ", weight " +
        image(problem.filters, per_group, problem.kernel_height, problem.kernel_width);
    text += ", stride " + hk::to_string({options.stride[0], options.stride[1]});
    text +=
        ", padding " + hk::to_string({padding.top, padding.bottom, padding.left, padding.right});
    text += ", dilation " + hk::to_string({options.dilation[0], options.dilation[1]});
    return text + ", groups " + std::to_string(options.groups);
}

}  // namespace hk::detail
