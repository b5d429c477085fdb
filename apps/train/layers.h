#pragma once
// Layers of a network, images as [N, H, W, C]. A tensor that is handed to a layer is the layer's:
// it may write to it, and its memory is free again as soon as nobody reads it any more.

#include <memory>
#include <string>
#include <vector>

#include "hk/conv2d.h"
#include "hk/pool2d.h"

namespace hk::train {

// Weights or biases. Value and gradient are parts of the network's tensors of all parameters.
struct Parameter {
    Shape shape;
    double largest = 0;  // of the initial values, which are uniform
    Tensor value, gradient;
};

// In training a layer keeps what its backward pass reads.
enum class Mode { training, inference };

class Layer {
public:
    virtual ~Layer() = default;

    virtual Tensor forward(Tensor input, Mode mode) = 0;

    // From the output's gradient the parameters' gradients and, where asked for, the input's. What
    // forward() kept goes on the way, each tensor after its last use.
    virtual Tensor backward(Tensor output_gradient, bool input_gradient) = 0;

    // What forward() kept goes, as after a backward pass that failed.
    virtual void forget() = 0;

    virtual std::vector<Parameter *> parameters() { return {}; }
    virtual std::string description() const = 0;
};

// With bias, and an activation whose gradient is a function of its output.
class Convolution : public Layer {
public:
    // weight: [K, R, S, C / groups]
    Convolution(Shape weight, const Conv2dOptions &options);

    Tensor forward(Tensor input, Mode mode) override { return forward(std::move(input), {}, mode); }
    Tensor backward(Tensor output_gradient, bool input_gradient) override;
    void forget() override;
    std::vector<Parameter *> parameters() override { return {&weight_, &bias_}; }
    std::string description() const override;

    // With `residual` added before the activation. Where nothing is kept the output takes its place.
    Tensor forward(Tensor input, Tensor residual, Mode mode);

    // backward() in two steps: from the gradient behind the activation to that before it, in place,
    // which is also the residual's; and from there on.
    void through_activation(const Tensor &gradient);
    Tensor from_sum(const Tensor &gradient, bool input_gradient);

    // The second step, with the input's gradient added to `input_gradient`.
    void from_sum_onto(const Tensor &gradient, const Tensor &input_gradient);

private:
    Parameter weight_, bias_;
    Conv2dOptions options_;
    Tensor input_, output_;  // kept
};

// output = relu(input + pointwise(relu(spatial(input)))), where spatial is a grouped 3x3.
class Residual : public Layer {
public:
    Residual(int64_t channels, int64_t groups);

    Tensor forward(Tensor input, Mode mode) override;
    Tensor backward(Tensor output_gradient, bool input_gradient) override;
    void forget() override;
    std::vector<Parameter *> parameters() override;
    std::string description() const override;

private:
    Convolution spatial_, pointwise_;
};

class Relu : public Layer {  // in place
public:
    Tensor forward(Tensor input, Mode mode) override;
    Tensor backward(Tensor output_gradient, bool input_gradient) override;
    void forget() override { output_ = {}; }
    std::string description() const override { return "relu"; }

private:
    Tensor output_;
};

class Pool : public Layer {
public:
    explicit Pool(const Pool2dOptions &options) : options_(options) {}

    Tensor forward(Tensor input, Mode mode) override;
    Tensor backward(Tensor output_gradient, bool input_gradient) override;
    void forget() override { input_ = output_ = {}; }
    std::string description() const override;

private:
    Pool2dOptions options_;
    Tensor input_, output_;
};

// A linear layer over all pixels and channels: a 1x1 convolution of one pixel. The output is [N, K].
class Linear : public Layer {
public:
    Linear(int64_t inputs, int64_t outputs);

    Tensor forward(Tensor input, Mode mode) override;
    Tensor backward(Tensor output_gradient, bool input_gradient) override;
    void forget() override { convolution_.forget(); }
    std::vector<Parameter *> parameters() override { return convolution_.parameters(); }
    std::string description() const override;

private:
    Convolution convolution_;
    Shape input_shape_;
};

}  // namespace hk::train
