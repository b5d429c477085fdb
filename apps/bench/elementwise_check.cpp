#include "elementwise_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace hk::bench {

namespace {

double element(const Tensor &tensor, size_t i) {
    switch (tensor.type()) {
        case DataType::f16:
            return f32_from_f16(tensor.data<uint16_t>()[i]);
        case DataType::bf16:
            return f32_from_bf16(tensor.data<uint16_t>()[i]);
        default:
            return tensor.data<float>()[i];
    }
}

// Values are of the order of 1; a few roundings of f32 and one of the type.
double tolerance(DataType type) {
    const int bits = type == DataType::f16 ? 11 : type == DataType::bf16 ? 8 : 24;
    return std::ldexp(4, -bits) + std::ldexp(1, -18);
}

Check compare(const Tensor &result, const std::function<double(size_t)> &wanted) {
    Check check;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < static_cast<size_t>(result.elements()); ++i) {
        const double value = wanted(i), error = std::abs(element(result, i) - value);
        largest = std::max(largest, std::abs(value));
        worst = std::max(worst, error);
        if (!(error <= tolerance(result.type())) && check.failure.empty()) {
            check.failure = "element " + std::to_string(i) + " is " +
                            std::to_string(element(result, i)) + ", it should be " +
                            std::to_string(value);
        }
    }
    check.max_error = largest > 0 ? worst / largest : worst;
    return check;
}

double activated(Activation activation, double v) {
    if (activation == Activation::relu) return std::max(v, 0.0);
    if (activation == Activation::silu) return v / (1 + std::exp(-v));
    return v * std::erfc(-v / std::numbers::sqrt2) / 2;
}

double derivative(Activation activation, double v) {
    if (activation == Activation::relu) return v > 0;
    if (activation == Activation::silu) {
        const double s = 1 / (1 + std::exp(-v));
        return s * (1 + v * (1 - s));
    }
    const double density = std::exp(-v * v / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return std::erfc(-v / std::numbers::sqrt2) / 2 + v * density;
}

}  // namespace

Check check_activation(const ActivationOptions &options, bool backward,
                       const std::vector<float> &values, const std::vector<float> &gradients,
                       const Tensor &result) {
    return compare(result, [&](size_t i) {
        return backward ? gradients[i] * derivative(options.activation, values[i])
                        : activated(options.activation, values[i]);
    });
}

Check check_sgd(const SgdOptions &options, const std::array<std::vector<float>, 3> &before,
                const Tensor &parameter, const Tensor &velocity) {
    const auto &[p, v, g] = before;
    const auto decayed = [&](size_t i) { return g[i] + double{options.weight_decay} * p[i]; };
    const auto moved = [&](size_t i) { return double{options.momentum} * v[i] + decayed(i); };
    const Check of_parameter = compare(parameter, [&](size_t i) {
        const double step = options.nesterov ? decayed(i) + options.momentum * moved(i) : moved(i);
        return p[i] - options.learning_rate * step;
    });
    if (options.momentum == 0 || !of_parameter.failure.empty()) return of_parameter;
    Check of_velocity = compare(velocity, moved);
    of_velocity.max_error = std::max(of_velocity.max_error, of_parameter.max_error);
    return of_velocity;
}

}  // namespace hk::bench
