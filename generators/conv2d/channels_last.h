#pragma once
// Copies of images in rows (nchw), and of their filters, whose neighbouring channels are next to
// each other: what products of matrices read. Channels are in whole vectors, zeros past the last.

#include "generators/image_layout.h"

namespace hk::generators {

struct ImageSize {
    Halide::Expr channels, width, height, batch;
};

// to(c, pixel, g), pixels of all images one after the other; `tile` is the same, on its way.
void copy_channels_last(const Halide::Func &image, const ImageSize &size, Halide::Func &tile,
                        Halide::Func &to);

// (c, s, r, k, g), as the filter has them.
Halide::Func filter_of_vectors(const Halide::Func &filter, const Halide::Expr &channels);

// The channels of whole vectors of so many.
inline Halide::Expr in_vectors(const Halide::Expr &channels, int vector) {
    return (channels + vector - 1) / vector * vector;
}

}  // namespace hk::generators
