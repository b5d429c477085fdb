#include "generators/activation.h"

#include "generators/error_function.h"
#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

Expr leaky(const Expr &value, const Expr &slope, bool branches) {
    const Expr sloped = select(value < 0.f, slope * value, value);
    return branches ? if_present(slope != 1.f, sloped, value) : select(slope == 1.f, value, sloped);
}

Expr linear_activation(const Expr &value, const Expr &slope, const Expr &low, const Expr &high,
                       bool branches) {
    const auto clamp_to = [&](const Expr &v) {
        const Expr raised = select(v < low, low, v);
        return strict_float(select(raised > high, high, raised));
    };
    if (branches) return clamp_to(leaky(value, slope, true));
    return select(slope == 1.f, clamp_to(value),
                  clamp_to(select(value < 0.f, slope * value, value)));
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
