#pragma once
// The weight of a convolution packed for sums in vectors of filters, in the index letters of
// generators/image_layout.h. In f32, innermost first:
//
//   [ki, c, s, r, ko, g]: weight(c, s, r, ko * kFilterBlock + ki, g)
//
// and zeros past the last filter of a group.

#include "generators/image_layout.h"

namespace hk::generators {

// Floats of a vector of AVX-512, and whole vectors of smaller ones.
constexpr int kFilterBlock = 16;

// An element of it.
Halide::Expr packed_filter(const Halide::Func &weight, const Halide::Expr &filters,
                           const Halide::Expr &filter, const Halide::Expr &group);

struct Conv2dFilter {
    Halide::Var ki{"ki"}, ko{"ko"};
    Halide::Func output;
};

// weight(c, s, r, k, g) of `filters` a group.
Conv2dFilter conv2d_filter(const Halide::Func &weight, const Halide::Expr &filters);

}  // namespace hk::generators
