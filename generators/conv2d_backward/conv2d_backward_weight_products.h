#pragma once
// The gradient of conv2d's filter as products of matrices, a tap each, for the units that have them
// (compiler/tensor_cores.h): of the output's gradient and what the tap meets of the input.

#include "generators/conv2d_backward/conv2d_backward_weight.h"
#include "generators/quotient.h"

namespace hk::generators {

// The output's pixels as one line: x is all of them.
struct PixelLine {
    Divisor columns, rows;  // of an image; undefined where the input is such a line too
    // Of a tap's channels; of a row of the filter; undefined of 1x1. Of windows the vectors are of
    // a row of the filter, and taps undefined.
    Divisor vectors, taps;
    Halide::Expr batch;
    Halide::Expr parts, steps;  // of the line; of a part, at least 1
    int slices = 1;             // of a step
};

// The filter's gradient is a matrix of filters by elements of a filter, e = c + channels * (s +
// kernel_w * r): a tile of it may have several taps, and channels need not fill one.
//
// A slice is kProductPixels pixels of the line. sum(e, k, g, part, slice) is over r.x (pixel of a
// slice) and r.y (step of the part, of one slice or several, which are summed apart and then added
// up: of_slice is a copy for other threads). gradient(k, g, x, slice) and tap(e, g, x, slice), of
// the operands' type, are of the pixel x of a step's first slice, and so many slices further. They
// are zero past the last pixel, as the tap is outside of the input. Channels and filters are in
// whole vectors of 16 bytes; past the last one they are that again, up to kProductElements
// elements.
//
// partial holds the parts' sums in f32. Of at most kShares parts few(c, s, r, k, g) adds up all,
// one after the other, over few_of, and result_of_few is the gradient. Of more, running(c, s, r, k,
// g, share) adds up every kShares-th from its share on, over `of`; shares is its copy for other
// threads, and a fixed tree adds those up: the order depends on the shape alone.
constexpr int kProductPixels = 32, kProductElements = 8, kShares = 8;
inline int pixel_vector(const Halide::Type &type) { return 16 / type.bytes(); }

// Images in rows (nchw) are copied first, channels next to each other, (c, pixel of all images, g),
// or are read as they are: pixels are next to each other then where they are staged.
struct CopiedLine {
    Halide::Func tile, to;
    Halide::Expr channels, pixels;
};
struct Conv2dBackwardWeightProducts {
    Halide::Var e{"e"}, part{"part"}, slice{"slice"}, share{"share"};
    Halide::Func gradient, tap, sum, of_slice, partial, few, running, shares, result_of_few, output;
    CopiedLine copied_gradient, copied_input;  // undefined where they are not
    CopiedWindows windows;                     // likewise
    bool any_channels = false;                 // the output's are no whole vectors
    bool in_rows = false;                      // images are read as they are
    int row_vector = 0;  // pixels in which the output's gradient is read in rows; 0: it is not
    int slices = 1;      // of a step; of one there is no of_slice
    Halide::Expr filters, elements;            // of a group, of a filter, as copied
    Halide::RDom r, few_of, of;
    Halide::Expr parts, has_few;  // at most kShares parts
};
Conv2dBackwardWeightProducts conv2d_backward_weight_products(
    const Conv2dBackwardWeightOperands &operands, const PixelLine &line);
// Of any number of channels, where dilations along rows are 1: the input is copied by windows' rows
// (generators/conv2d/channels_last.h), of which elements of a filter are as many as a row has,
// e = channel + channels of a pixel * s + those of a row * r. `line`: of images, nchw, or of the
// line that the output's gradient is.
Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_windows(
    Conv2dBackwardWeightOperands operands, PixelLine line, bool nhwc, int vector);
// Of images in rows: any channels and filters. `line`: of images. Both are copied, or, above 0, the
// output's gradient read as it is, in vectors of so many pixels of a plane, which is a line; or
// both, in those of a row, of 1x1 filters without padding.
Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_copies(
    Conv2dBackwardWeightOperands operands, PixelLine line, bool pointwise, int vector);
Conv2dBackwardWeightProducts conv2d_backward_weight_products_of_rows(
    const Conv2dBackwardWeightOperands &operands, const PixelLine &line, int vector);

}  // namespace hk::generators
