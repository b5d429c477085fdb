#include "layers.h"

#include <cmath>
#include <utility>

#include "hk/activation.h"
#include "hk/conv2d_backward.h"

namespace hk::train {
namespace {

// He and others 2015, for a uniform distribution.
double he_largest(const Shape &weight) {
    return std::sqrt(6.0 / static_cast<double>(weight[1] * weight[2] * weight[3]));
}

Conv2dOptions without_activation(Conv2dOptions options) {
    options.activation = Activation::none;
    return options;
}

ActivationOptions activation_of(const Conv2dOptions &options) {
    return {options.activation, options.alpha, options.beta};
}

Conv2dOptions grouped_3x3(int64_t groups) {
    Conv2dOptions options;
    options.padding = {1, 1, 1, 1};
    options.groups = groups;
    options.activation = Activation::relu;
    return options;
}

Conv2dOptions pointwise() {
    Conv2dOptions options;
    options.activation = Activation::relu;
    return options;
}

}  // namespace

Convolution::Convolution(Shape weight, const Conv2dOptions &options) : options_(options) {
    weight_.largest = he_largest(weight);
    bias_.shape = {weight[0]};
    weight_.shape = std::move(weight);
}

Tensor Convolution::forward(Tensor input, Tensor residual, Mode mode) {
    if (residual.defined() && mode == Mode::inference) {
        conv2d(input, weight_.value, bias_.value, residual, inplace(residual), options_);
        return residual;
    }
    const auto problem =
        Conv2dProblem::from_shapes(input.shape(), weight_.shape, input.type(), options_);
    Tensor output(problem.output_shape(), input.type(), input.device());
    conv2d(input, weight_.value, bias_.value, residual, output, options_);
    if (mode == Mode::training) {
        input_ = std::move(input);
        if (options_.activation != Activation::none) output_ = output;
    }
    return output;
}

Tensor Convolution::backward(Tensor output_gradient, bool input_gradient) {
    through_activation(output_gradient);
    return from_sum(output_gradient, input_gradient);
}

void Convolution::through_activation(const Tensor &gradient) {
    if (options_.activation == Activation::none) return;
    activate_backward(gradient, output_, inplace(gradient), train::activation_of(options_));
    output_ = {};
}

Tensor Convolution::from_sum(const Tensor &gradient, bool input_gradient) {
    Conv2dGradients gradients{{}, weight_.gradient, bias_.gradient};
    if (input_gradient) gradients.input = Tensor(input_.shape(), input_.type(), input_.device());
    conv2d_backward(gradient, input_, weight_.value, gradients, without_activation(options_));
    input_ = {};
    return gradients.input;
}

void Convolution::from_sum_onto(const Tensor &gradient, const Tensor &input_gradient) {
    const Conv2dOptions options = without_activation(options_);
    conv2d_backward(gradient, input_, {}, {{}, weight_.gradient, bias_.gradient}, options);
    input_ = {};
    conv2d_backward_data(gradient, weight_.value, input_gradient, options, 1);
}

void Convolution::forget() { input_ = output_ = {}; }

std::string Convolution::description() const {
    std::string text = "convolution " + to_string(weight_.shape);
    if (options_.groups > 1) text += ", groups " + std::to_string(options_.groups);
    if (options_.stride[0] > 1) text += ", stride " + std::to_string(options_.stride[0]);
    if (options_.activation != Activation::none) {
        text += ", " + std::string(name_of(options_.activation));
    }
    return text;
}

Residual::Residual(int64_t channels, int64_t groups)
    : spatial_({channels, 3, 3, channels / groups}, grouped_3x3(groups)),
      pointwise_({channels, 1, 1, channels}, pointwise()) {}

Tensor Residual::forward(Tensor input, Mode mode) {
    Tensor inside = spatial_.forward(input, mode);
    return pointwise_.forward(std::move(inside), std::move(input), mode);
}

Tensor Residual::backward(Tensor output_gradient, bool input_gradient) {
    pointwise_.through_activation(output_gradient);
    Tensor inside = pointwise_.from_sum(output_gradient, true);
    spatial_.through_activation(inside);
    if (!input_gradient) {
        spatial_.from_sum(inside, false);
        return {};
    }
    spatial_.from_sum_onto(inside, output_gradient);
    return output_gradient;
}

void Residual::forget() {
    spatial_.forget();
    pointwise_.forget();
}

std::vector<Parameter *> Residual::parameters() {
    std::vector<Parameter *> all = spatial_.parameters();
    for (Parameter *parameter : pointwise_.parameters()) all.push_back(parameter);
    return all;
}

std::string Residual::description() const {
    return "residual (" + spatial_.description() + "; " + pointwise_.description() + ")";
}

Tensor Relu::forward(Tensor input, Mode mode) {
    activate(input, inplace(input));
    if (mode == Mode::training) output_ = input;
    return input;
}

Tensor Relu::backward(Tensor output_gradient, bool) {
    activate_backward(output_gradient, output_, inplace(output_gradient));
    output_ = {};
    return output_gradient;
}

Tensor Pool::forward(Tensor input, Mode mode) {
    Tensor output = pool2d(input, options_);
    if (mode == Mode::training) {
        input_ = std::move(input);
        output_ = output;
    }
    return output;
}

Tensor Pool::backward(Tensor output_gradient, bool) {
    Tensor gradient(input_.shape(), input_.type(), input_.device());
    pool2d_backward(output_gradient, input_, output_, gradient, options_);
    forget();
    return gradient;
}

std::string Pool::description() const {
    return std::string(name_of(options_.pooling)) + " pooling " +
           std::to_string(options_.kernel[0]) + "x" + std::to_string(options_.kernel[1]);
}

Linear::Linear(int64_t inputs, int64_t outputs) : convolution_({outputs, 1, 1, inputs}, {}) {}

Tensor Linear::forward(Tensor input, Mode mode) {
    input_shape_ = input.shape();
    const int64_t count = input_shape_[0];
    const Tensor output =
        convolution_.forward(input.reshape({count, 1, 1, input.elements() / count}), mode);
    return output.reshape({count, output.shape()[3]});
}

Tensor Linear::backward(Tensor output_gradient, bool input_gradient) {
    const Shape shape{output_gradient.shape()[0], 1, 1, output_gradient.shape()[1]};
    const Tensor gradient =
        convolution_.backward(output_gradient.reshape(shape), input_gradient);
    return input_gradient ? gradient.reshape(input_shape_) : gradient;
}

std::string Linear::description() const { return "linear, a " + convolution_.description(); }

}  // namespace hk::train
