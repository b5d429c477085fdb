#include "generators/activation.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7, which is f32's rounding of 1 + erf.
Expr error_function(const Expr &v) {
    const Expr z = abs(v);
    const Expr t = 1.f / (1.f + 0.3275911f * z);
    const Expr polynomial =
        t * (0.254829592f +
             t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const Expr positive = 1.f - polynomial * exp(-z * z);
    return select(v < 0.f, -positive, positive);
}

}  // namespace

Expr leaky(const Expr &value, const Expr &slope) {
    return select(slope == 1.f, value, select(value < 0.f, slope * value, value));
}

Expr linear_activation(const Expr &value, const Expr &slope, const Expr &low, const Expr &high) {
    const auto clamp_to = [&](const Expr &v) {
        const Expr raised = select(v < low, low, v);
        return strict_float(select(raised > high, high, raised));
    };
    return select(slope == 1.f, clamp_to(value),
                  clamp_to(select(value < 0.f, slope * value, value)));
}

Expr activation(const Expr &value, const Expr &slope, const Expr &low, const Expr &high,
                const Expr &smooth) {
    const Expr linear = linear_activation(value, slope, low, high);
    const Expr silu = value / (1.f + exp(-value));
    const Expr gelu = 0.5f * value * (1.f + error_function(value * 0.70710678f));
    return select(smooth == 0, linear, smooth == 1, silu, gelu);
}

}  // namespace hk::generators
