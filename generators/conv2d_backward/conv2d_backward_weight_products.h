#pragma once
// The gradient of conv2d's filter as products of matrices, a tap each, for the units that have them
// (compiler/tensor_cores.h): of the output's gradient and what the tap meets of the input.

#include "generators/conv2d_backward/conv2d_backward_weight.h"
#include "generators/quotient.h"

namespace hk::generators {

// The output's pixels as one line: x is all of them.
struct PixelLine {
    Divisor columns, rows;  // of an image; undefined where the input is such a line too
    Halide::Expr batch;
    Halide::Expr parts, slices;  // of the line; of a part, at least 1
};

// A slice is kProductPixels pixels of the line. sum(c, s, r, k, g,
// part) is over r.x (pixel of a slice) and r.y (slice of the part). gradient(k, g, x) and tap(c, s,
// r, g, x), of the operands' type, are zero past the last pixel, as the tap is outside of the
// input. Channels and filters are in whole vectors of 16 bytes; past the last one they are that
// again.
//
// partial holds the parts' sums in f32. running(c, s, r, k, g, share) adds up every kShares-th part
// from its share on, over `of`; shares is its copy for other threads, and a fixed tree adds those
// up: the order depends on the shape alone.
constexpr int kProductPixels = 32, kShares = 8;
inline int pixel_vector(const Halide::Type &type) { return 16 / type.bytes(); }

// Images in rows (nchw) are copied first, channels next to each other, (c, pixel of all images, g).
struct CopiedLine {
    Halide::Func tile, to;
    Halide::Expr channels, pixels;
};
struct Conv2dBackwardWeightProducts {
    Halide::Var part{"part"}, share{"share"};
    Halide::Func gradient, tap, sum, partial, running, shares, output;
    CopiedLine copied_gradient, copied_input;  // undefined where they are not
    Halide::Expr filters, channels;            // of a group, as copied
    Halide::RDom r, of;
    Halide::Expr kernel_w, kernel_h, parts;
};
Conv2dBackwardWeightProducts conv2d_backward_weight_products(
    const Conv2dBackwardWeightOperands &operands, const PixelLine &line);
// Of images in rows: any channels and filters. `line`: of images.
Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_rows(
    Conv2dBackwardWeightOperands operands, PixelLine line, bool pointwise);

}  // namespace hk::generators
