#pragma once
// Copies of images, and of their filters, whose neighbouring channels are next to each other: what
// products of matrices read. Channels are in whole vectors, past the last zeros where they are
// `filled`, else that one again.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

struct ImageSize {
    Halide::Expr channels, width, height, batch;
};

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
