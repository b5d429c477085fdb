#pragma once
// A quotient rounded up, of numbers above 0.

#include "Halide.h"

namespace hk::generators {

inline Halide::Expr ceil_div(const Halide::Expr &value, const Halide::Expr &divisor) {
    return (value + divisor - 1) / divisor;
}

}  // namespace hk::generators
