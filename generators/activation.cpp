#include "generators/activation.h"

#include "generators/error_function.h"
#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

Expr leaky(const Expr &value, const Expr &slope, bool branches) {
    const Expr sloped = select(value < 0.f, slope * value, value);
    return branches ? if_present(slope != 1.f, sloped, value) : select(slope == 1.f, value, sloped);
}

Expr within_bounds(const Expr &value, const Expr &low, const Expr &high) {
    const Expr raised = select(value < low, low, value);
    return strict_float(select(raised > high, high, raised));
}

Expr linear_activation(const Expr &value, const Expr &slope, const Expr &low, const Expr &high,
                       bool branches) {
    if (branches) return within_bounds(leaky(value, slope, true), low, high);
    return select(slope == 1.f, within_bounds(value, low, high),
                  within_bounds(select(value < 0.f, slope * value, value), low, high));
}

Expr smooth_activation(const Expr &value, const Expr &smooth, const Target &target, bool quick) {
    Expr v = value;
    const Expr over = one_and_exponential(v, target);
    const Expr silu = quick ? v * fast_inverse(over) : v / over;
    const Expr erf = quick ? error_function(value * 0.70710678f, target, fast_inverse)
                           : error_function(value * 0.70710678f, target);
    return select(smooth == 1, silu, value * (0.5f + 0.5f * erf));
}

Expr activation(const Expr &value, const Expr &slope, const Expr &low, const Expr &high,
                const Expr &smooth, const Target &target) {
    const Expr smoothed = if_present(smooth == 1, smooth_activation(value, 1, target),
                                     smooth_activation(value, 2, target));
    return if_present(smooth == 0, linear_activation(value, slope, low, high), smoothed);
}

}  // namespace hk::generators
