#pragma once
// Rows of images (nchw) that are copied in whole vectors.

#include "Halide.h"

namespace hk::generators {

// The updates of a copy: `sides` writes zeros, `inside` the columns, of which x are a vector's.
struct CopiedRows {
    Halide::RDom sides, inside;
};

// An image in f32 with zeros around it, of which a row is at least as wide as a vector of `lanes`
// columns, and no padding wider: a vector of zeros on each side, and vectors of columns, the last
// of which begins before the end of the one before. Nothing compares.
Halide::Func copied_rows(const Halide::Func &image, const Halide::Expr &width,
                         const Halide::Expr &height, int lanes, CopiedRows &rows);

}  // namespace hk::generators
