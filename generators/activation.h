#pragma once
// Activations of a value v, chosen at run time:
//   smooth 0: min(max(v < 0 ? slope * v : v, low), high), which is none, relu, clamp and leaky relu
//   smooth 1: silu, v / (1 + exp(-v))
//   smooth 2: gelu, v * (1 + erf(v / sqrt(2))) / 2
// NaN passes through: every comparison is false for it.

#include "Halide.h"

namespace hk::generators {

// By branches: only what `smooth` asks for is evaluated.
Halide::Expr activation(const Halide::Expr &value, const Halide::Expr &slope,
                        const Halide::Expr &low, const Halide::Expr &high,
                        const Halide::Expr &smooth, const Halide::Target &target);

// Those of smooth 0 alone. `branches`: a slope is a branch, for kernels whose threads have much to
// finish; otherwise both are evaluated.
Halide::Expr linear_activation(const Halide::Expr &value, const Halide::Expr &slope,
                               const Halide::Expr &low, const Halide::Expr &high,
                               bool branches = false);

// Those of smooth 1 and 2. `quick`: quotients are good to some units in f32, by fast_inverse().
Halide::Expr smooth_activation(const Halide::Expr &value, const Halide::Expr &smooth,
                               const Halide::Target &target, bool quick = false);

// The linear ones without their bounds, and those alone.
Halide::Expr leaky(const Halide::Expr &value, const Halide::Expr &slope, bool branches = false);
Halide::Expr within_bounds(const Halide::Expr &value, const Halide::Expr &low,
                           const Halide::Expr &high);

}  // namespace hk::generators
