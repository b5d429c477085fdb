#pragma once
// The gradient of conv2d's filter as matrix products, a tap each: of the output's gradient and what
// the tap meets of the input, over pixels.

#include "generators/conv2d_backward/conv2d_backward_weight.h"

namespace hk::generators {

// Rows of all images, one after the other, are divided in `parts` parts of equal length, and where
// there are fewer rows, each of them in as many parts as that leaves. A row is slices of `columns`
// columns: sum(c, s, r, k, g, part) is over r.x (column of a slice), r.y (slice of a row) and r.z
// (row of a part). gradient(k, g, x, row) and tap(c, s, r, g, x, row), what the tap meets for that
// pixel, are zero past the last column, filter, channel and group, so that a staged slice has a
// constant size. Where there are several parts, partial holds their sums, and a fixed tree adds
// them up: the order depends on the shape alone.
struct Conv2dBackwardWeightSliced {
    Halide::Var row{"row"}, part{"part"};
    Halide::Func gradient, tap, sum, partial, output;  // partial: undefined with one part
    Halide::RDom r;
};
Conv2dBackwardWeightSliced conv2d_backward_weight_sliced(
    const Conv2dBackwardWeightOperands &operands, int columns, int parts);

}  // namespace hk::generators
