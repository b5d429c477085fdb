#pragma once
// Schedules of the copies of generators/conv2d/channels_last.h.

#include "generators/conv2d/conv2d.h"

namespace hk::schedules::gpu {

// Of an image, (c, pixel, g), through shared memory.
struct CopiedImage {
    Halide::Func tile, to;
    Halide::Expr channels, pixels, groups;  // channels: whole vectors
};
void copy_image(CopiedImage image);

// Of an image, by windows' rows.
void copy_windows(const generators::CopiedWindows &windows);

// Of a filter whose filters are next to each other, (c, s, r, k, g), of so many channels.
void copy_filter_across(Halide::Func transposed, const Halide::Expr &channels);

// Of the input, by windows' rows or by channels, where it is copied, and the filter.
// `filters_inner`: as Conv2dContext has it.
void copy_channels_last(generators::Conv2dSliced &stages, bool filters_inner);

}  // namespace hk::schedules::gpu
