#pragma once
// The quantised weight of a convolution packed for sums in vectors of filters, of words of four
// channels: what one instruction multiplies and adds up. Innermost first:
//
//   [byte, w, s, r, ko, g]: weight(4 * w + byte % 4, s, r, ko * kFilterBlock + byte / 4, g)
//
// and zeros past the last channel and past the last filter of a group.

#include "generators/conv2d/conv2d_filter.h"

namespace hk::generators {

constexpr int kWord = 4;
constexpr int kBlockBytes = kWord * kFilterBlock;

struct QuantizedConv2dFilter {
    Halide::Var byte{"byte"}, ko{"ko"};
    Halide::Func output;
};

// weight(c, s, r, k, g) of `filters` and `channels` a group.
QuantizedConv2dFilter quantized_conv2d_filter(const Halide::Func &weight,
                                              const Halide::Expr &channels,
                                              const Halide::Expr &filters);

}  // namespace hk::generators
