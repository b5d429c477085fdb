#include "network.h"

#include "batches.h"

namespace hk::train {
namespace {

// Bytes at whose multiples each parameter starts: what OpenCL devices ask of a buffer's start, and
// two vectors of AVX-512.
constexpr int64_t kAlignment = 128;

void set(const Tensor &tensor, int64_t i, double value) {
    const auto rounded = static_cast<float>(value);
    switch (tensor.type()) {
        case DataType::f32: tensor.data<float>()[i] = rounded; break;
        case DataType::f16: tensor.data<uint16_t>()[i] = f16_from_f32(rounded); break;
        default: tensor.data<uint16_t>()[i] = bf16_from_f32(rounded);
    }
}

}  // namespace

Network::Network(std::vector<std::unique_ptr<Layer>> layers, DataType type, Device device,
                 uint64_t seed)
    : layers_(std::move(layers)) {
    const int64_t aligned = kAlignment / size_of(type);
    int64_t total = 0;
    std::vector<int64_t> starts;
    for (const Parameter *parameter : each_parameter()) {
        starts.push_back(total);
        int64_t elements = 1;
        for (const int64_t size : parameter->shape) elements *= size;
        total += (elements + aligned - 1) / aligned * aligned;
    }
    const Tensor initial = Tensor::zeros({total}, type);
    gradients_ = Tensor::zeros({total}, type, device);
    velocity_ = Tensor::zeros({total}, type, device);
    values_ = Tensor::zeros({total}, type, device);
    std::mt19937_64 random(seed);
    size_t next = 0;
    for (Parameter *parameter : each_parameter()) {
        const int64_t start = starts[next++];
        int64_t elements = 1;
        for (const int64_t size : parameter->shape) elements *= size;
        for (int64_t i = 0; i < elements; i++) {
            if (parameter->largest == 0) break;
            set(initial, start + i, parameter->largest * (2 * uniform(random) - 1));
        }
        parameter->value = values_.slice(0, start, elements).reshape(parameter->shape);
        parameter->gradient = gradients_.slice(0, start, elements).reshape(parameter->shape);
    }
    values_.copy_from(initial);
}

Tensor Network::run(Tensor images, Mode mode) {
    for (const auto &layer : layers_) images = layer->forward(std::move(images), mode);
    return images;
}

void Network::backward(Tensor gradient) {
    for (size_t i = layers_.size(); i-- > 0;) {
        gradient = layers_[i]->backward(std::move(gradient), i > 0);
    }
}

void Network::update(const SgdOptions &options) {
    sgd_step(values_, velocity_, gradients_, options);
}

void Network::forget() {
    for (const auto &layer : layers_) layer->forget();
}

std::vector<Parameter *> Network::each_parameter() const {
    std::vector<Parameter *> all;
    for (const auto &layer : layers_) {
        for (Parameter *parameter : layer->parameters()) all.push_back(parameter);
    }
    return all;
}

int64_t Network::parameter_count() const {
    int64_t count = 0;
    for (const Parameter *parameter : each_parameter()) count += parameter->value.elements();
    return count;
}

std::string Network::description() const {
    std::string text;
    for (const auto &layer : layers_) text += layer->description() + "\n";
    return text;
}

std::vector<std::unique_ptr<Layer>> digit_layers() {
    Conv2dOptions first, down;
    first.padding = down.padding = {1, 1, 1, 1};
    down.stride = {2, 2};
    down.activation = Activation::relu;
    std::vector<std::unique_ptr<Layer>> layers;
    layers.push_back(std::make_unique<Convolution>(Shape{32, 3, 3, 1}, first));
    layers.push_back(std::make_unique<Relu>());
    layers.push_back(std::make_unique<Residual>(32, 4));
    layers.push_back(std::make_unique<Convolution>(Shape{64, 3, 3, 32}, down));
    layers.push_back(std::make_unique<Residual>(64, 64));
    layers.push_back(std::make_unique<Pool>(Pool2dOptions{}));
    layers.push_back(std::make_unique<Linear>(2 * 2 * 64, kClasses));
    return layers;
}

}  // namespace hk::train
