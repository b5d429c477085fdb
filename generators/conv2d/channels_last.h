#pragma once
// Copies of images, and of their filters, whose neighbouring channels are next to each other: what
// products of matrices read. Channels are in whole vectors, zeros past the last.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

struct ImageSize {
    Halide::Expr channels, width, height, batch;
};

// to(c, pixel, g), pixels of all images one after the other; `tile` is the same, on its way.
void copy_channels_last(const Halide::Func &image, const ImageSize &size, Halide::Func &tile,
                        Halide::Func &to);

// (c, s, r, k, g), as the filter has them.
Halide::Func filter_of_vectors(const Halide::Func &filter, const Halide::Expr &channels);

// A copy with zeros around the image, for filters of few channels: what a row of a window meets is
// next to each other, and its products are one sum. A pixel is a vector of channels or several, or
// half a vector where two make one and windows begin at every second or so.
struct WindowRows {
    Halide::Func to;               // (pixel * channels + channel, g, row, n)
    Halide::Expr channels;         // of a pixel
    Halide::Expr taps, step;       // elements of a window's row; from one to the next
    Halide::Expr elements, lines;  // of a copied row; rows of an image
};
WindowRows copy_windows(const Conv2dOperands &op);

// (tap * channels + channel, 0, r, k, g).
Halide::Func filter_of_windows(const Halide::Func &filter, const Conv2dOperands &op,
                               const WindowRows &rows);

// The channels of whole vectors of so many.
inline Halide::Expr in_vectors(const Halide::Expr &channels, int vector) {
    return (channels + vector - 1) / vector * vector;
}

}  // namespace hk::generators
