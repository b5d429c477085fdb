#include "tests/elementwise/reference.h"

#include <cmath>
#include <numbers>

#include "tests/reference/elements.h"

namespace hk::reference {

double activate(double value, const ActivationOptions &options) {
    switch (options.activation) {
        case Activation::none:
            return value;
        case Activation::relu:
            return value < 0 ? 0 : value;
        case Activation::clamp:
            if (value < options.alpha) value = options.alpha;
            return value > options.beta ? options.beta : value;
        case Activation::leaky_relu:
            return value < 0 ? options.alpha * value : value;
        case Activation::silu:
            return value / (1 + std::exp(-value));
        case Activation::gelu:
            return value * (1 + std::erf(value / std::numbers::sqrt2)) / 2;
    }
    return value;
}

double activation_derivative(double v, const ActivationOptions &options) {
    switch (options.activation) {
        case Activation::none:
            return 1;
        case Activation::relu:
            return v > 0;
        case Activation::clamp:
            return v > options.alpha && v < options.beta;
        case Activation::leaky_relu:
            return v > 0 ? 1 : options.alpha;
        case Activation::silu: {
            const double s = 1 / (1 + std::exp(-v));
            return s + v * s * (1 - s);
        }
        case Activation::gelu: {
            const double density = std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi);
            return (1 + std::erf(v / std::numbers::sqrt2)) / 2 + v * density;
        }
    }
    return 0;
}

ActivationOptions stored(DataType type, ActivationOptions options) {
    if (options.activation != Activation::clamp) return options;
    options.alpha = static_cast<float>(rounded(type, options.alpha));
    options.beta = static_cast<float>(rounded(type, options.beta));
    return options;
}

SgdStep sgd_step(double p, double v, double gradient, const SgdOptions &options) {
    const double decay = options.weight_decay * p;
    const double g = gradient + decay;
    const double velocity = options.momentum * v + g;
    const double step = options.nesterov ? g + options.momentum * velocity : velocity;
    const double size = std::abs(gradient) + std::abs(decay) + std::abs(options.momentum * v);
    return {p - options.learning_rate * step, velocity,
            std::abs(p) + options.learning_rate * 2 * size};
}

}  // namespace hk::reference
