#pragma once
// The weight of a convolution packed for sums in vectors of filters, in the index letters of
// generators/image_layout.h, innermost first:
//
//   [ki, c, s, r, ko, g] in f32: weight(c, s, r, ko * kFilterBlock + ki, g)
//   [e, p, s, r, ko, g] in bf16, for products of pairs of channels (schedules/conv2d/conv2d.h):
//       weight(2 * p + e % 2, s, r, ko * kFilterBlock + e / 2, g)
//
// and zeros past the last filter of a group, and the last channel. In slices
// (generators/conv2d/conv2d_slices.h) there are so many pairs that these are whole; of windows
// channels and columns of the filter are one dimension.

#include "generators/image_layout.h"
#include "generators/transpose.h"

namespace hk::generators {

// Floats of a vector of AVX-512, and whole vectors of smaller ones.
constexpr int kFilterBlock = 16;

// Channels of a slice: 64 bytes.
constexpr int kSliceChannels = 32;

// An element of it.
Halide::Expr packed_filter(const Halide::Func &weight, const Halide::Expr &filters,
                           const Halide::Expr &filter, const Halide::Expr &group);

// The same weight(c, s, r, k, g) with zeros past the last filter, where filters may be next to each
// other: a vector of them is masked, and not gathered.
Halide::Func with_zeros_past_filters(const Halide::Func &weight, const Halide::Expr &filters);

// Pairs on their way: words(ki, p, s, r, ko, g), and packed(e, p, s, r, ko, g) of them. Of a weight
// whose channels are next to each other (`across`) words are transposed in panels of kFilterBlock
// by kFilterBlock: lines(c, row, s, r, ko, g) is the weight, transposed the steps.
struct PackedPairs {
    Halide::Func lines, words, packed;
    std::vector<Halide::Func> transposed;
};
PackedPairs packed_pairs(const Halide::Func &weight, const Halide::Expr &channels,
                         const Halide::Expr &filters, const std::array<Halide::Var, 2> &block,
                         int filters_of_block, bool across = false);

// Channels and columns of a filter as one dimension: (column * channels + channel, s, r, k, g).
Halide::Func joined_columns(const Halide::Func &weight, const Halide::Expr &channels,
                            const Halide::Expr &columns);

struct Conv2dFilter {
    Halide::Var ki{"ki"}, ko{"ko"};  // ki: or the element of a pair
    PackedPairs pairs;               // or undefined
    Halide::Func output;
};

// weight(c, s, r, k, g) of `filters` a group; in pairs of so many channels.
Conv2dFilter conv2d_filter(const Halide::Func &weight, const Halide::Expr &filters);
Conv2dFilter conv2d_filter_pairs(const Halide::Func &weight, const Halide::Expr &channels,
                                 const Halide::Expr &filters, bool across);

}  // namespace hk::generators
