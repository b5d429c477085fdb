#pragma once
// The gradient of conv2d's bias from that of its output, in the index letters of
// generators/conv2d_layout.h: the sum over x, y, n of output_gradient(k, g, x, y, n), in parts and
// lanes as generators/conv2d_backward_weight.h has them.

#include "generators/conv2d_layout.h"

namespace hk::generators {

struct Conv2dBackwardBiasOperands {
    Halide::Func output_gradient, previous;
    Halide::Expr batch, out_w, out_h;  // of the output's gradient
    Halide::Expr accumulate;           // whether previous(k, g) is added
    Halide::Type type;                 // of the bias' gradient
};

// partial(lane, k, g, part) is over r.x (of a lane) and r.y (rows of a part).
struct Conv2dBackwardBias {
    Halide::Var lane{"lane"}, part{"part"};
    Halide::Func partial, folded, sum, output;
    Halide::RDom r;
};
Conv2dBackwardBias conv2d_backward_bias(const Conv2dBackwardBiasOperands &operands, int lanes,
                                        int parts);

}  // namespace hk::generators
