#pragma once
// The gradient of conv2d's filter from that of its output, in the index letters of
// generators/conv2d_layout.h:
//
//   weight_gradient(c, s, r, k, g) = sum over x, y, n of output_gradient(k, g, x, y, n)
//       * input(c, g, x * stride_x + s * dilation_x - padding_left,
//                     y * stride_y + r * dilation_y - padding_top, n)
//
// The rows of all images, n * out_h, are divided in `parts` parts of equal length, and columns in
// `lanes` lanes, one after the other. A fixed tree adds up lanes, and then parts: the order depends
// on the shape alone, and no sum is longer than its share.

#include "generators/conv2d_layout.h"

namespace hk::generators {

struct Conv2dBackwardWeightOperands {
    Halide::Func output_gradient, input, previous;
    Halide::Expr channels, filters, groups;  // of a group; of both
    Halide::Expr batch, out_w, out_h;        // of the output's gradient
    Halide::Expr width, height;        // of the input
    Halide::Expr stride_x, stride_y, dilation_x, dilation_y, padding_left, padding_top;
    Halide::Expr accumulate;  // whether previous(c, s, r, k, g) is added
    Halide::Type type;        // of the weight's gradient
    bool pointwise = false;   // 1x1 filter, no padding
};

// partial(lane, c, s, r, k, g, part) is over r.x (of a lane) and r.y (rows of a part).
struct Conv2dBackwardWeight {
    Halide::Var lane{"lane"}, part{"part"};
    Halide::Func gradient, padded, partial, folded, sum, output;
    Halide::RDom r;
};
Conv2dBackwardWeight conv2d_backward_weight(const Conv2dBackwardWeightOperands &operands, int lanes,
                                            int parts);

}  // namespace hk::generators
