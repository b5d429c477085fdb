#include "generators/activation/activate_backward.h"

#include "generators/error_function.h"

using namespace Halide;

namespace hk::generators {

namespace {

// False where one is NaN: Halide 21 makes !(b < a) of a <= b, which would be true.
Expr at_most(const Expr &a, const Expr &b) { return strict_float(a < b) || strict_float(a == b); }

Expr linear_gradient(const Expr &gradient, const Expr &saved, const ActivationArguments &f) {
    const Expr bounded = at_most(saved, f.low) || at_most(f.high, saved);
    const Expr leaky = select(strict_float(saved > 0.f), gradient, f.slope * gradient);
    return select(bounded, 0.f, select(f.slope == 1.f, gradient, leaky));
}

// s = 1 / (1 + exp(-v)): (v * s)' = s + v * s * (1 - s)
Expr silu_derivative(Expr v, const Target &target) {
    const Expr s = 1.f / one_and_exponential(v, target);
    return s * (1.f + v * (1.f - s));
}

// (v * P(v))' = P(v) + v * p(v), of the normal distribution and its density. The exponential is
// the one that error_function has.
Expr gelu_derivative(const Expr &v, const Target &target) {
    const Expr w = v * 0.70710678f, z = abs(w);
    return 0.5f * (1.f + error_function(w, target)) +
           v * (0.39894228f * exponential(-z * z, target));
}

}  // namespace

ActivateBackward activate_backward(Func output_gradient, Func saved, const Type &type,
                                   const ActivationArguments &f) {
    ActivateBackward stages;
    stages.output = Func("backward");
    const Expr gradient = cast<float>(output_gradient(x, y, z));
    const Expr v = cast<float>(saved(x, y, z));
    stages.output(x, y, z) =
        cast(type, select(f.smooth == 0, linear_gradient(gradient, v, f), f.smooth == 1,
                          gradient * silu_derivative(v, f.target),
                          gradient * gelu_derivative(v, f.target)));
    return stages;
}

}  // namespace hk::generators
