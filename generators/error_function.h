#pragma once
// erf(v). Abramowitz and Stegun 7.1.26: absolute error below 1.5e-7, which is f32's rounding of
// 1 + erf. `inverse`: of 1 and more, to some units in f32.

#include "generators/exponential.h"

namespace hk::generators {

inline Halide::Expr quotient_of_one(Halide::Expr v) { return 1.f / v; }

inline Halide::Expr error_function(const Halide::Expr &v, const Halide::Target &target,
                                   Halide::Expr (*inverse)(Halide::Expr) = quotient_of_one) {
    const Halide::Expr z = Halide::abs(v);
    const Halide::Expr t = inverse(1.f + 0.3275911f * z);
    const Halide::Expr polynomial =
        t * (0.254829592f +
             t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    const Halide::Expr positive = 1.f - polynomial * exponential(-z * z, target);
    return Halide::select(v < 0.f, -positive, positive);
}

}  // namespace hk::generators
