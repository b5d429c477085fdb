#pragma once
// The gradient of conv2d's bias from that of its output, in the index letters of
// generators/image_layout.h: the sum over x, y, n of output_gradient(k, g, x, y, n), in parts and
// lanes as generators/conv2d_backward/conv2d_backward_weight.h has them.

#include "generators/image_layout.h"

namespace hk::generators {

struct Conv2dBackwardBiasOperands {
    Halide::Func output_gradient, previous;
    Halide::Expr batch, out_w, out_h, filters;  // of the output's gradient, of a group
    Halide::Expr accumulate;           // whether previous(k, g) is added
    Halide::Type type;                 // of the bias' gradient
};

// A part's sum is long (generators/long_sum.h): block_sum(lane, k, g, part, bx, by) is over
// in_block.x (of a lane) and in_block.y (rows), running(lane, k, g, part) over the blocks of a
// part, and partial is its value.
struct Conv2dBackwardBias {
    Halide::Var lane{"lane"}, part{"part"}, bx{"bx"}, by{"by"};
    Halide::Func block_sum, running, partial, folded, sum, output;
    Halide::RDom in_block, blocks;
};
Conv2dBackwardBias conv2d_backward_bias(const Conv2dBackwardBiasOperands &operands, int lanes,
                                        int parts);

}  // namespace hk::generators
