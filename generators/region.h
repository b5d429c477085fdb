#pragma once
// What boundary conditions leave alone.

#include "Halide.h"

namespace hk::generators {

// In a region, a dimension of any extent.
inline const Halide::Range kAll = {Halide::Expr(), Halide::Expr()};

}  // namespace hk::generators
