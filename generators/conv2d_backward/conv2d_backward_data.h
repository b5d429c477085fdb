#pragma once
// The gradient of conv2d's input from that of its output: a convolution of the output's gradient
// with the flipped filter, in the index letters of generators/image_layout.h. Here x y are pixels
// of the output's gradient, and an input's pixel is x * stride_x + px: px, py are its stride
// phases.
//
//   input_gradient(c, g, x * stride_x + px, y * stride_y + py, n)
//       = sum over k and the taps s, r of the phase of flipped(c, s, r, k, g)
//             * output_gradient(k, g, from_x, from_y, n)
//   from_x = (x * stride_x + px + s * dilation_x - crop_left) / stride_x, from_y likewise
//   flipped(c, s, r, k, g) = weight(c, kernel_w - 1 - s, kernel_h - 1 - r, k, g)
//   crop_left = dilation_x * (kernel_w - 1) - padding_left, also below zero
//
// The taps of a phase are those for which that division leaves nothing: s = first(px) + step * j
// with step = stride / gcd(stride, dilation), or none. So no zeros are inserted, and none are
// multiplied.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// The sizes of one direction.
struct StridePhases {
    Halide::Expr kernel, stride, dilation, padding;
    Halide::Expr common;   // gcd(stride, dilation)
    Halide::Expr inverse;  // of dilation / common, modulo stride / common

    Halide::Expr step() const { return stride / common; }
    Halide::Expr most_taps() const { return (kernel + step() - 1) / step(); }  // of a phase
    // pixel % stride, written so that its bounds are exact: of a remainder by an argument Halide
    // takes 0 to stride - 1, also where the pixel is a single one.
    Halide::Expr phase(const Halide::Expr &pixel) const;
    Halide::Expr first(const Halide::Expr &phase) const;  // tap; `kernel` where there is none
    // The pixel of the output's gradient that tap j of the phase reads for x = 0.
    Halide::Expr source(const Halide::Expr &phase, const Halide::Expr &j) const;
    Halide::Expr crop() const { return dilation * (kernel - 1) - padding; }
};

struct Conv2dBackwardDataOperands {
    Halide::Func output_gradient, weight, previous;
    Halide::Expr channels, filters;            // of a group
    Halide::Expr out_w, out_h, width, height;  // of the output's gradient; of the input's
    Halide::Expr groups;
    StridePhases x, y;
    Halide::Expr accumulate;  // whether previous(c, g, x, y, n) is added
    Halide::Type type;        // of the input's gradient
    bool pointwise = false;   // 1x1 filter, stride 1, no padding
};

// gradient(k, g, x, y, n) is the output's with zeros around it, filter(c, s, r, k, g) the flipped
// one, both in f32. The sum is over r.x = k, r.y = j of x, r.z = j of y; its arguments are
// sum(c, g, x, y, px, py, n), those of output(c, g, x, y, n) are pixels of the input.
struct Conv2dBackwardData {
    Halide::Var px{"px"}, py{"py"};
    Halide::Func gradient, filter, sum;
    Halide::Func joined, output;  // the sums at the input's pixels, in f32 and rounded
    Halide::RDom r;
    BlockedSum blocked;    // in place of r, where the sum is in blocks
    Halide::RDom columns;  // of rows that are copied; undefined where gradient compares
};

// Two ways to write the same graph, with the same stages and so the same schedules: pad and flip
// the tensors, then expand them to groups; and the other way round.
Conv2dBackwardData conv2d_backward_data_flip_expand(const Conv2dBackwardDataOperands &operands);
Conv2dBackwardData conv2d_backward_data_expand_flip(const Conv2dBackwardDataOperands &operands);

// flip_expand in tiles whose groups may be past the last, where the filter is of anything.
Conv2dBackwardData conv2d_backward_data_flip_expand_tiles(
    const Conv2dBackwardDataOperands &operands);

// flip_expand for sums of any length, by generators/long_sum.h.
Conv2dBackwardData conv2d_backward_data_flip_expand_blocks(
    const Conv2dBackwardDataOperands &operands);

// The same two, with k in slices, as the convolution that it is: stages of
// generators/conv2d/conv2d.h, where c and k have changed places. A stride phase is a group of its
// own of the sum, of filter and of tap: number (g * phases_y + py) * phases_x + px; s and r are the
// taps of the phase. padded is the gradient, of the true groups. With strides of one these are the
// same, and so are the stages; otherwise the output is an update over pixels.x, pixels.y (x, y) and
// pixels.z (group of the sum).
Conv2dSliced conv2d_backward_data_flip_expand_sliced(const Conv2dBackwardDataOperands &operands,
                                                     const Conv2dLayout &order, int tile);
Conv2dSliced conv2d_backward_data_expand_flip_sliced(const Conv2dBackwardDataOperands &operands,
                                                     const Conv2dLayout &order, int tile);

// expand_flip, its gradient being zeros that the rows are copied into, whole; or `masked`, of f32,
// nothing being read outside of it by masks of vectors of columns.
Conv2dBackwardData conv2d_backward_data_rows(const Conv2dBackwardDataOperands &operands,
                                             bool masked);

// With strides of one the gradient is a convolution for the algorithms of
// generators/conv2d/conv2d.h: of the output's gradient with the flipped filter, k and c changing
// places, cropped by padding below zero; what is accumulated is its residual, with the edge
// repeated, for tiles that reach over it.
Conv2dOperands conv2d_of_backward_data(const Conv2dBackwardDataOperands &operands);

}  // namespace hk::generators
