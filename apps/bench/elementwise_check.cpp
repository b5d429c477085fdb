#include "elementwise_check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "element_check.h"

namespace hk::bench {

namespace {

// Values are of the order of 1; a few roundings of f32 and one of the type.
Check compare(const Tensor &result, const std::function<double(size_t)> &expected) {
    const double tolerance = 4 * rounding(result.type()) + std::ldexp(1, -18);
    return check_elements(result, expected, [=](double) { return tolerance; });
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
