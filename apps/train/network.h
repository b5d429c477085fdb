#pragma once
// A small residual network for images of one channel, and the tensors of all its parameters.

#include <memory>
#include <vector>

#include "hk/sgd.h"
#include "layers.h"

namespace hk::train {

class Network {
public:
    // The initial parameters are a function of the seed alone, rounded to the type.
    Network(std::vector<std::unique_ptr<Layer>> layers, DataType type, Device device,
            uint64_t seed);

    // Logits [N, classes] of images [N, 8, 8, 1].
    Tensor infer(Tensor images) { return run(std::move(images), Mode::inference); }
    Tensor forward(Tensor images) { return run(std::move(images), Mode::training); }

    // The gradients of all parameters, from those of the logits that forward() gave last.
    void backward(Tensor logits_gradient);

    void update(const SgdOptions &options);

    // Drops what forward() kept for a backward() that does not come.
    void forget();

    // All parameters in a row, each from a multiple of 128 bytes on, zeros between them; and their
    // gradients likewise. So one call updates all of them, and one message carries all gradients.
    const Tensor &parameters() const { return values_; }
    const Tensor &gradients() const { return gradients_; }

    DataType type() const { return values_.type(); }
    Device device() const { return values_.device(); }
    int64_t parameter_count() const;
    std::string description() const;  // a layer a line

private:
    Tensor run(Tensor images, Mode mode);
    std::vector<Parameter *> each_parameter() const;

    std::vector<std::unique_ptr<Layer>> layers_;
    Tensor values_, gradients_, velocity_;
};

// The layers of this program.
std::vector<std::unique_ptr<Layer>> digit_layers();

}  // namespace hk::train
