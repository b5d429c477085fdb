#pragma once
// The gradient of conv2d's filter from that of its output, in the index letters of
// generators/image_layout.h:
//
//   weight_gradient(c, s, r, k, g) = sum over x, y, n of output_gradient(k, g, x, y, n)
//       * input(c, g, x * stride_x + s * dilation_x - padding_left,
//                     y * stride_y + r * dilation_y - padding_top, n)

#include "generators/conv2d/conv2d.h"
#include "generators/conv2d/transposed_groups.h"
#include "generators/conv2d_backward/copied_rows.h"
#include "generators/optional.h"

namespace hk::generators {

struct Conv2dBackwardWeightOperands : Conv2dGeometry {
    Halide::Func output_gradient, input, previous;
    Halide::Expr out_h;       // of the output's gradient
    Halide::Expr accumulate;  // whether previous(c, s, r, k, g) is added
    Halide::Type type;        // of the weight's gradient
    bool inside = false;      // no tap is outside of the input
};

// The gradient from its sum, on a CPU: (c, s, r, k, g).
Halide::Func result(const Conv2dBackwardWeightOperands &operands, const Halide::Expr &sum);

// Images are divided in tiles of about `pixels` pixels, of whole rows where those are that short.
// All tiles of a call are equally large.
struct WeightTiles {
    int pixels;
    int lanes;            // neighbouring columns that have a sum each
    int step;             // in a loop of their own: columns where lanes is 1, else rows
    bool transposed;  // groups become neighbours: of depthwise filters, of images in rows (nchw)
                      // that are four columns wide
    bool past_ends;   // channels, filters and groups past the last ones are read, as zeros
    // Channels, filters, groups and columns of the output are multiples of what is computed at
    // once, and nothing is read past the last ones.
    bool exact = false;
    bool inside = false;             // exact, and no filter reaches past an edge
    bool whole = false;              // all pixels of all images are one tile
    int groups = kTransposedGroups;  // of a tile that is transposed
};

// Of a vector of a row that is copied, where lanes is not 1: an input is as wide, paddings are no
// wider. The output has `lanes` columns and `step` rows.
inline constexpr int kCopiedColumns = 16;

// A tile's sums, tile_sum(lane, c, s, r, k, g, tx, ty, n), are over pixel.x (of a step), pixel.y
// and pixel.z (steps and rows). sum(lane, c, s, r, k, g) adds up the tiles, over of.x = tx, of.y =
// ty and of.z = n, one after the other, and a fixed tree the lanes. So the order of adding depends
// on the shape alone, and no sum is longer than a tile, or than the number of tiles. Where all
// pixels are one tile, sum is not defined. padded is the input with zeros around it, gradient the
// output's gradient, both in f32.
struct Conv2dBackwardWeight {
    Halide::Var lane{"lane"}, tx{"tx"}, ty{"ty"};
    TransposedTiles input_tiles, gradient_tiles;
    Halide::Func padded, gradient, tile_sum, sum, folded, output;
    Halide::RDom pixel, of;
    CopiedRows rows;  // where lanes is not 1
};
Conv2dBackwardWeight conv2d_backward_weight(const Conv2dBackwardWeightOperands &operands,
                                            const WeightTiles &tiles);

}  // namespace hk::generators
