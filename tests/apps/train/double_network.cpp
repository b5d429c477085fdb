#include "double_network.h"

#include <algorithm>
#include <cmath>

namespace hk::train {
namespace {

struct Images {
    int64_t count, side, channels;
    std::vector<double> v;

    Images(int64_t count, int64_t side, int64_t channels)
        : count(count),
          side(side),
          channels(channels),
          v(static_cast<size_t>(count * side * side * channels)) {}

    double &at(int64_t n, int64_t y, int64_t x, int64_t c) {
        return v[static_cast<size_t>(((n * side + y) * side + x) * channels + c)];
    }
    double or_zero(int64_t n, int64_t y, int64_t x, int64_t c) {
        return y < 0 || y >= side || x < 0 || x >= side ? 0 : at(n, y, x, c);
    }
};

using Parameters = std::vector<std::vector<double>>;

// The next convolution of the network, with weights [filters, size, size, channels / groups].
class Convolutions {
public:
    explicit Convolutions(const Parameters &parameters) : parameters_(parameters) {}

    Images next(Images input, int64_t filters, int64_t size, int64_t groups, int64_t stride) {
        const std::vector<double> &weight = parameters_[next_], &bias = parameters_[next_ + 1];
        next_ += 2;
        const int64_t channels = input.channels / groups, pad = size / 2;
        Images output(input.count, (input.side + 2 * pad - size) / stride + 1, filters);
        for (int64_t n = 0; n < output.count; n++)
            for (int64_t y = 0; y < output.side; y++)
                for (int64_t x = 0; x < output.side; x++)
                    for (int64_t k = 0; k < filters; k++) {
                        double sum = bias[static_cast<size_t>(k)];
                        const int64_t first = k / (filters / groups) * channels;
                        for (int64_t r = 0; r < size; r++)
                            for (int64_t s = 0; s < size; s++)
                                for (int64_t c = 0; c < channels; c++)
                                    sum += weight[static_cast<size_t>(
                                               ((k * size + r) * size + s) * channels + c)] *
                                           input.or_zero(n, y * stride + r - pad,
                                                         x * stride + s - pad, first + c);
                        output.at(n, y, x, k) = sum;
                    }
        return output;
    }

    Images residual(const Images &input, int64_t groups) {
        const Images inside = relu(next(input, input.channels, 3, groups, 1));
        Images output = next(inside, input.channels, 1, 1, 1);
        for (size_t i = 0; i < output.v.size(); i++) output.v[i] += input.v[i];
        return relu(std::move(output));
    }

    static Images relu(Images images) {
        for (double &value : images.v) value = std::max(value, 0.0);
        return images;
    }

private:
    const Parameters &parameters_;
    size_t next_ = 0;
};

// All pixels of an image become its channels.
Images pooled_and_flat(Images &input) {
    const int64_t side = input.side / 2;
    Images output(input.count, 1, side * side * input.channels);
    for (int64_t n = 0; n < input.count; n++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < side; x++)
                for (int64_t c = 0; c < input.channels; c++)
                    output.at(n, 0, 0, (y * side + x) * input.channels + c) = std::max(
                        {input.at(n, 2 * y, 2 * x, c), input.at(n, 2 * y, 2 * x + 1, c),
                         input.at(n, 2 * y + 1, 2 * x, c), input.at(n, 2 * y + 1, 2 * x + 1, c)});
    return output;
}

}  // namespace

double double_loss(const Parameters &parameters, const DoubleDigits &digits) {
    Images images(digits.count, 8, 1);
    images.v = digits.pixels;
    Convolutions layers(parameters);
    images = Convolutions::relu(layers.next(images, 32, 3, 1, 1));
    images = layers.residual(images, 4);
    images = Convolutions::relu(layers.next(images, 64, 3, 1, 2));
    images = layers.residual(images, 64);
    Images logits = layers.next(pooled_and_flat(images), 10, 1, 1, 1);
    double loss = 0;
    for (int64_t n = 0; n < digits.count; n++) {
        double sum = 0;
        for (int64_t c = 0; c < 10; c++) sum += std::exp(logits.at(n, 0, 0, c));
        loss += std::log(sum) - logits.at(n, 0, 0, digits.labels[static_cast<size_t>(n)]);
    }
    return loss / static_cast<double>(digits.count);
}

}  // namespace hk::train
