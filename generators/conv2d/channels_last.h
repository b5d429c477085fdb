#pragma once
// Copies of images, and of their filters, whose neighbouring channels are next to each other: what
// products of matrices read. Channels are in whole vectors, past the last zeros where they are
// `filled`, else that one again.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

struct ImageSize {
    Halide::Expr channels, width, height, batch;
    Halide::Expr step_x = 1, step_y = 1;  // from a pixel to the next
};

// The pixels that filters of one column, or row, meet without padding: every so many. `op` takes
// them for the image, with strides of 1. Of others all pixels.
template<typename Geometry>
ImageSize take_met_pixels(Geometry &op, const Halide::Expr &columns, const Halide::Expr &rows) {
    const auto take = [](const Halide::Expr &kernel, const Halide::Expr &padding,
                         const Halide::Expr &outputs, Halide::Expr &stride, Halide::Expr &size) {
        const Halide::Expr alone = kernel == 1 && padding == 0 && (outputs - 1) * stride < size;
        const Halide::Expr step = select(alone, stride, 1);
        size = select(alone, outputs, size);
        stride = select(alone, 1, stride);
        return step;
    };
    const Halide::Expr step_x = take(op.kernel_w, op.padding_left, columns, op.stride_x, op.width);
    const Halide::Expr step_y = take(op.kernel_h, op.padding_top, rows, op.stride_y, op.height);
    return {op.channels, op.width, op.height, op.batch, step_x, step_y};
}

// to(c, pixel, g), pixels of all images one after the other; `tile` is the same, on its way.
void copy_channels_last(const Halide::Func &image, const ImageSize &size, bool filled,
                        Halide::Func &tile, Halide::Func &to);

// (c, s, r, k, g), as the filter has them.
Halide::Func filter_of_vectors(const Halide::Func &filter, const Halide::Expr &channels);

// Takes instead of the input a copy with `outside` around the image, for filters of few channels:
// what a row of a window meets is next to each other, and becomes one tap. A pixel is a vector of
// channels or several, or half a vector where two make one and windows begin at every second or so.
//
// Then there are strides along rows of 1, and no paddings; channels are whole vectors, of which the
// first are the taps', the others the next pixels'.
CopiedWindows copy_windows(Conv2dGeometry &op, Halide::Func &input, const Halide::Expr &outside,
                           bool filled);

// The same, and of the weight a copy alike, with zeros past the last tap, too. The number of taps'
// channels.
Halide::Expr read_windows(Conv2dGeometry &op, Halide::Func &input, Halide::Func &weight,
                          const Halide::Expr &outside, Conv2dSliced &stages);

// Takes instead of images in rows (nchw) copies with neighbouring channels next to each other, of
// the weight, too. 1x1 filters without padding read the pixels of all images as one line.
void read_channels_last(Conv2dGeometry &op, Halide::Func &input, Halide::Func &weight,
                        Conv2dSliced &stages);
// The same of the weight alone.
void copy_filter(Conv2dGeometry &op, Halide::Func &weight, Conv2dSliced &stages);

// The channels of whole vectors of so many.
inline Halide::Expr in_vectors(const Halide::Expr &channels, int vector) {
    return (channels + vector - 1) / vector * vector;
}

}  // namespace hk::generators
