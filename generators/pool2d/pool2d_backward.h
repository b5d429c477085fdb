#pragma once
// The gradient of pooling's input from that of its output, in the index letters of
// generators/image_layout.h; there is one group. x and y are pixels of the input.
//
// It is gathered: a pixel adds up the windows that hold it in an order of its own, so that nothing
// is added atomically and no order depends on threads.

#include "generators/pool2d/pool2d.h"

namespace hk::generators {

struct Pool2dBackwardOperands {
    Halide::Func output_gradient, input,
        output;  // average reads the first alone, max by rows the first two
    PoolWindows windows;
    Halide::Expr out_w, out_h;
    bool unpadded;      // no window reaches over the edge
    Halide::Type type;  // of the input's gradient
    Halide::Target target;
};

// window(c, g, x, y, n), of a window at x, y of the output: of max the place, r.y * kernel_x + r.x,
// of its first pixel that equals the output, or is NaN where that is, which first_best looks for;
// of average the gradient of each of its pixels. first_x(x) and first_y(y) are the first windows
// that hold a pixel; sum is over w.x and w.y, how many windows after those; in blocks what
// `blocked` has.
//
// By rows, dense(c, g, x, y, n) is of the window at x, y, of all `windows` of a row: of max the
// place of its maximum and its gradient, of average the gradient of each of its pixels; around them
// place is -1 and the gradient 0. folded(c, g, x, phase, row, y, n) is what column
// x * stride_x + phase of the padded image gets in a row of the windows at y, over `taps`, how many
// windows before x; across(c, g, x, row, y, n) is the same at column x of that image. sum is over
// w.x, how many windows after the first above. Of max order(c, g, x, y, n) is the input's as
// integers, at its `columns`, with room around it that is no maximum; window is the maximum and its
// place. Of average pixels(x) is how many a window has in a row.
//
// By phases, of strides that are known, around(c, g, x, y, n) is the image amid what is no maximum,
// limit what a window's maxima are held against, window(c, g, x, y, n) the place of the first, over
// r from the last. dense is the same for all windows and -1 around them, given their gradients; of
// average that of each of their pixels, and 0 around them.
// folded(c, g, x, phase, y, n) is what column x * stride_x + phase of the image has, over taps, how
// many windows before its last; across is the same at column x.
//
// Of tiles, of windows and strides that are known, around, limit and given are as by phases, but
// that the image is amid its edge; window(c, g, x, y, n) is the pixel of the first maximum, y *
// width + x of it. sum is over w, how many windows before a pixel's last.
//
// Of planes, whose one window is all of them, share(c, g, n) is the gradient of each pixel.
struct Pool2dBackward {
    Halide::Func first_best, window, first_x, first_y, sum, output;
    Halide::RDom r, w;  // r is of max alone
    Halide::Func order, pixels, dense, folded, across;
    Halide::Func around, limit, given, share;
    Halide::RDom columns, windows, taps;
    BlockedSum blocked;
};

// What a window's elements are held against, from its maximum.
Halide::Expr limit_of(const Pool2dBackwardOperands &operands, const Halide::Expr &maximum);
// Whether an element is a maximum of the window with that limit, or NaN where its maximum is.
Halide::Expr is_maximum(const Pool2dBackwardOperands &operands, const Halide::Expr &element,
                        const Halide::Expr &limit);

Pool2dBackward pool2d_backward_max(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_max_in_blocks(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average_in_blocks(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_max_by_rows(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_max_by_phases(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average_by_phases(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average_by_rows(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_max_of_tiles(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average_of_tiles(const Pool2dBackwardOperands &operands);
Pool2dBackward pool2d_backward_average_of_planes(const Pool2dBackwardOperands &operands);

}  // namespace hk::generators
