#include "tests/reference/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hk::reference {
namespace {

struct Storage {
    double half_ulp;  // relative, of a normal number
    double smallest;  // below it, hardware may flush results to zero
    double largest;
};

Storage storage(DataType type) {
    switch (type) {
        case DataType::f16:
            return {std::ldexp(1, -11), std::ldexp(1, -25), 65504};
        case DataType::bf16:
            return {std::ldexp(1, -8), std::ldexp(1, -126), std::ldexp(255, 120)};
        default:
            return {std::ldexp(1, -24), std::ldexp(1, -126), std::numeric_limits<float>::max()};
    }
}

// The steepest slope of each activation, and the error of evaluating it, relative to its argument:
// the smooth ones go through approximations of exp and erf that are good to some units in f32.
struct Steepness {
    double slope, evaluation;
};

Steepness steepness(const ActivationOptions &options) {
    switch (options.activation) {
        case Activation::leaky_relu:
            return {std::max(1.0, std::abs(static_cast<double>(options.alpha))), 0};
        case Activation::silu:
            return {1.1, std::ldexp(1, -19)};
        case Activation::gelu:
            return {1.13, std::ldexp(1, -19)};
        default:
            return {1, 0};
    }
}

}  // namespace

// A sum of T products in f32 is off by at most T * 2^-24 * (sum of magnitudes), to first order and
// in any order of adding (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2); two
// more roundings are for the activation.
double tolerance(DataType type, int64_t terms, double value, double magnitude,
                 const ActivationOptions &activation) {
    const auto [slope, evaluation] = steepness(activation);
    const auto [half_ulp, smallest, largest] = storage(type);
    const double rounding = static_cast<double>(terms + 2) * std::ldexp(1, -24);
    const double sum = magnitude * (slope * rounding + evaluation);
    return sum + half_ulp * (std::abs(value) + sum) + smallest;
}

bool close(DataType type, double result, double value, double tolerance) {
    if (std::isnan(result) || std::isnan(value)) {
        return std::isnan(result) && std::isnan(value);
    }
    if (std::isinf(value)) {
        return result == value;
    }
    if (std::isinf(result)) {
        return std::copysign(1.0, result) * value + tolerance >= storage(type).largest;
    }
    return std::abs(result - value) <= tolerance;
}

}  // namespace hk::reference
