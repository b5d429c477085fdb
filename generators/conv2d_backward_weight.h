#pragma once
// The gradient of conv2d's filter from that of its output, in the index letters of
// generators/conv2d_layout.h:
//
//   weight_gradient(c, s, r, k, g) = sum over x, y, n of output_gradient(k, g, x, y, n)
//       * input(c, g, x * stride_x + s * dilation_x - padding_left,
//                     y * stride_y + r * dilation_y - padding_top, n)

#include "generators/conv2d_layout.h"
#include "generators/transpose.h"

namespace hk::generators {

struct Conv2dBackwardWeightOperands {
    Halide::Func output_gradient, input, previous;
    Halide::Expr channels, filters, groups;  // of a group; of both
    Halide::Expr batch, out_w, out_h;        // of the output's gradient
    Halide::Expr width, height;        // of the input
    Halide::Expr stride_x, stride_y, dilation_x, dilation_y, padding_left, padding_top;
    Halide::Expr accumulate;  // whether previous(c, s, r, k, g) is added
    Halide::Type type;        // of the weight's gradient
};

// Images are divided in tiles of about `pixels` pixels, of whole rows where they are that short;
// all tiles of a call are equally large, a multiple of lanes * step columns wide.
struct WeightTiles {
    int pixels;
    int lanes;  // neighbouring columns that have a sum each
    int step;   // of those, in a loop of their own
    bool transposed;
    bool past_ends;  // channels, filters and groups past the last ones are read: they are zeros
};

// A tile's sums, tile(lane, c, s, r, k, g, tx, ty, n), are over pixel.x (step), pixel.y and
// pixel.z (columns and rows); sum(lane, c, s, r, k, g) adds up the tiles, over of.x = tx, of.y = ty
// and of.z = n, one after the other. A fixed tree adds up the lanes. So the order depends on the
// shape alone, and no sum is longer than a tile, or the number of tiles.
// padded is the input with zeros around it, gradient the output's gradient.
// Images in rows (nchw) on their way to vectors of channels (or of groups, where there is a channel a
// group): lines(x, channel, other, y, n) is a copy, whose squares of `kSquare` columns and channels are
// transposed in steps.
struct TransposedImage {
    Halide::Func lines;
    std::vector<Halide::Func> steps;
};

struct Conv2dBackwardWeight {
    TransposedImage input, output_gradient;  // empty where nothing is transposed
    Halide::Var lane{"lane"}, tx{"tx"}, ty{"ty"};
    Halide::Func gradient, padded, tile, sum, folded, output;
    Halide::RDom pixel, of;
};
Conv2dBackwardWeight conv2d_backward_weight(const Conv2dBackwardWeightOperands &operands,
                                            const WeightTiles &tiles);

}  // namespace hk::generators
