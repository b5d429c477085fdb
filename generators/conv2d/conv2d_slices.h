#pragma once
// Convolution of bf16 as products of matrices in the registers of a CPU that has some for them
// (compiler/tile_registers.h), in the index letters of generators/image_layout.h.
//
// Channels are in slices of kSliceChannels, zeros past the last in both factors, and pairs of them
// lie next to each other in the filter: packed(e, p, s, r, ko, g) of generators/conv2d/
// conv2d_filter.h. Sums are f32, from zero, and what else starts a sum is added at its end.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// What the sum reads of the input:
//  - line: the input, of 1x1 filters without padding and with strides of 1, and of whole slices.
//    The sum is of tiles of so many columns, sum(k, g, x, tile, y, n), of which a row's last begins
//    before the end of the one before it. No tile reads past the row, which is not shorter than
//    one,
//  - image: padded(c, g, x, y, n), with zeros around the image,
//  - taps: tap(c, s, r, g, x, y, n), what the output at x, y reads,
//  - windows: the same, of few channels, where dilations along rows are 1: what a row of a window
//    meets is one tap. padded(column * channels + channel, g, y, n) are joined rows.
enum class SliceSource : uint8_t { line, image, taps, windows };
struct SliceForm {
    SliceSource source;
    int columns = 0;              // of line
    bool rounds_vectors = false;  // outputs, by vcvtne2ps2bf16, in vectors of 32
};

struct Conv2dSlices {
    Halide::Var tile{"tile"};
    Halide::Func padded, tap, start, sum, activated, output;
    Halide::RVar half, pair, s, r, slices;  // of the sum
    Halide::RDom elements;                  // of a row that is copied into padded
    Halide::Expr out_w, out_h, filters;     // of the output; of a group
    Halide::Expr filter_bytes;              // of a block of kFilterBlock filters
};
Conv2dSlices conv2d_slices(const Conv2dOperands &operands, const SliceForm &form);

}  // namespace hk::generators
