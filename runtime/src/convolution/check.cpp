#include "convolution/check.h"

#include <algorithm>
#include <span>

#include "hk/error.h"
#include "shape.h"

namespace hk::detail {

namespace {

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

}  // namespace

void check_present(const char *operation, const Conv2dTensors &tensors) {
    for (const Operand &operand : {Operand{"input", tensors.input},
                                   {"weight", tensors.weight},
                                   {"output", tensors.output.tensor()}}) {
        if (!operand.tensor.defined()) fail(operation, std::string(operand.name) + " is undefined");
    }
    for (const Operand &operand : {Operand{"weight", tensors.weight},
                                   {"bias", tensors.bias},
                                   {"residual", tensors.residual},
                                   {"output", tensors.output.tensor()}}) {
        check_device(operation, operand, {"input", tensors.input});
    }
}

void check_views(const char *operation, const Conv2dProblem &problem,
                 const Conv2dTensors &tensors) {
    const Operand input{"input", tensors.input}, weight{"weight", tensors.weight},
        bias{"bias", tensors.bias}, residual{"residual", tensors.residual},
        output{"output", tensors.output.tensor()};
    const Shape shape = problem.output_shape();
    check_shape(operation, output, shape);
    check_shape(operation, residual, shape);
    check_shape(operation, bias, std::span(&problem.filters, 1));
    const char *elements = innermost_elements(problem.options.layout);
    for (const Operand &operand : {input, weight, residual, output}) {
        check_innermost(operation, operand, elements);
    }
    check_elements_disjoint(operation, output);
    const Input inputs[] = {{input}, {weight}, {bias}, {residual, true}};
    check_output(operation, output.name, tensors.output, inputs);
}

Conv2dProblem check_conv2d(const Conv2dTensors &tensors, const Conv2dOptions &options) {
    constexpr const char *kOperation = "conv2d";
    check_present(kOperation, tensors);
    for (const Operand &operand : {Operand{"weight", tensors.weight},
                                   {"bias", tensors.bias},
                                   {"residual", tensors.residual},
                                   {"output", tensors.output.tensor()}}) {
        check_type(kOperation, operand, {"input", tensors.input});
    }
    Conv2dProblem problem = Conv2dProblem::from_shapes(
        tensors.input.shape(), tensors.weight.shape(), tensors.input.type(), options);
    check_activation(kOperation, activation_options(options));
    check_views(kOperation, problem, tensors);
    problem.in_place = tensors.output.is_inplace();
    return problem;
}

std::string to_string(const Conv2dProblem &problem, const char *operation) {
    const Conv2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    const bool nhwc = options.layout == Layout::nhwc;
    const int64_t per_group = problem.channels / options.groups;
    const auto image = [&](int64_t n, int64_t c, int64_t y, int64_t x) {
        return hk::to_string(nhwc ? Shape{n, y, x, c} : Shape{n, c, y, x});
    };
    std::string text =
        std::string(operation) + " " + std::string(name_of(options.layout)) + " " +
        std::string(name_of(problem.type)) + ", input " +
        image(problem.batch, problem.channels, problem.height, problem.width) + ", weight " +
        image(problem.filters, per_group, problem.kernel_height, problem.kernel_width);
    text += ", stride " + hk::to_string({options.stride[0], options.stride[1]});
    text +=
        ", padding " + hk::to_string({padding.top, padding.bottom, padding.left, padding.right});
    text += ", dilation " + hk::to_string({options.dilation[0], options.dilation[1]});
    text += ", groups " + std::to_string(options.groups);
    if (problem.prepared_filter) text += ", a prepared filter";
    return problem.in_place ? text + ", in place" : text;
}

}  // namespace hk::detail
