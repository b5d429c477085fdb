#pragma once
// The gradient of a depthwise filter (generators/conv2d_backward/conv2d_backward_weight.h), of
// images in nchw that are read where they are, by masks: vectors are of neighbouring columns.

#include "generators/conv2d_backward/conv2d_backward_weight.h"

namespace hk::generators {

// Vectors have so many lanes, each with a sum of its own. Rows are divided in tiles of about
// `pixels` pixels. The lanes of so many groups' sums are added up together.
struct ColumnTiles {
    int lanes, pixels, groups;

    // Columns of the output in a vector. With a stride of 2 lane l is column l for the first two
    // columns of the filter, l - 1 for the next two, which meet the same of the input.
    int columns(int stride, int kernel_w) const {
        return lanes - (stride - 1) * (kernel_w - 1) / 2;
    }
};

// So many lanes are added up by a transposition, more by halves before.
inline constexpr int kFoldedLanes = 8;

// tile_sum(lane, s, r, g, tile, n) is over rows pixel.x of a tile, of the input where the stride is
// 1, else of the output, and vectors pixel.y. Lanes are the output's columns where
// is_column(lane, shift, vector), else zero; columns(…) is the same, asked for once a vector.
// input(element, part, vector, y, g, n) is what the vector's lanes meet of row y, `stride` elements
// a lane, from the element `part` on. Past an edge it is zero; rows that are not there are left
// out.
//
// sums(lane, tap, block) adds up a group's tiles, of.z of an image and of.w images, for taps of.x
// and of.y of group of[4] of a block, and folded(tap, block) the lanes: the order depends on the
// shape alone, and no sum is longer than a tile or than the number of tiles.
struct Conv2dBackwardWeightColumns {
    Halide::Var lane{"lane"}, part{"part"}, shift{"shift"}, vector{"vector"}, tile{"tile"};
    Halide::Var block{"block"}, tap{"tap"};
    Halide::Func is_column, is_inside, columns, gradient, input, tile_sum, sums, halves, turned,
        folded;
    Halide::Func output;
    Halide::RDom pixel, of;
};
Conv2dBackwardWeightColumns conv2d_backward_weight_columns(
    const Conv2dBackwardWeightOperands &operands, const ColumnTiles &tiles, int stride,
    int kernel_w);

}  // namespace hk::generators
