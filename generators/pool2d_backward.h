#pragma once
// The gradient of pooling's input from that of its output, in the index letters of
// generators/conv2d_layout.h; there is one group. x and y are pixels of the input.
//
// It is gathered: a pixel adds up the windows that hold it, row by row, so that nothing is added
// atomically and no order depends on threads.

#include "generators/pool2d.h"

namespace hk::generators {

struct Pool2dBackwardOperands {
    Halide::Func output_gradient, input, output;  // of average the last two are not read
    PoolWindows windows;
    Halide::Expr out_w, out_h;
    bool unpadded;      // no window reaches over the edge, nor does a vector of columns
    Halide::Type type;  // of the input's gradient
};

// window(c, g, x, y, n), of a window at x, y of the output: of max the place, r.y * kernel_x + r.x,
// of its first pixel that equals the output, or is NaN where that is; of average the gradient of
// each of its pixels. first_x(x) and first_y(y) are the first windows that hold a pixel; sum is
// over w.x and w.y, how many windows after those.
struct Pool2dBackward {
    Halide::Func window, first_x, first_y, sum, output;
    Halide::RDom r, w;  // r is of max alone
};

Pool2dBackward pool2d_backward_max(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average(const Pool2dBackwardOperands &operands);

}  // namespace hk::generators
