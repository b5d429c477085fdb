#pragma once
// A quantised convolution of bytes as products of matrices in the registers of a CPU that has some
// for them (compiler/tile_registers.h), as generators/conv2d/conv2d_slices.h.
//
// Channels are in slices of kSliceBytes, zeros past the last in both factors: the filter is packed
// as generators/quantized_conv2d/quantized_conv2d_filter.h says, of whole slices. Sums are s32,
// from zero; what else starts a sum is added at its end.

#include "generators/quantized_conv2d/quantized_conv2d.h"

namespace hk::generators {

constexpr int kSliceBytes = 64;

struct QuantizedConv2dSlices : QuantizedConv2dEnds {
    Halide::Var tile{"tile"};
    Halide::Func products;                  // of which sum is the sum with its start
    Halide::RVar byte, word, s, r, slices;  // of the products
    Halide::Expr out_w, out_h, filters;     // of the output; of a group
    Halide::Expr filter_bytes;              // of a block of kFilterBlock filters
};
// columns: 0, or the sum is of tiles of so many of the input, products(k, g, x, tile, y, n), as of
// SliceSource::line; its bytes are u8, and nothing is flipped.
QuantizedConv2dSlices quantized_conv2d_slices(const QuantizedConv2dOperands &operands,
                                              const Halide::Expr &out_h, int columns);

}  // namespace hk::generators
