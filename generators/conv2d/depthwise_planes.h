#pragma once
// Depthwise convolution of small images in rows (nchw), whose planes are lines.

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// Sums of so many columns and rows are side by side; so many neighbouring pixels of the output are
// transposed at once, and so many columns of the input. Powers of two, these.
struct PlaneTile {
    int x, y;
    int pixels, columns;
    bool flipped = false;  // the sum takes the filter's taps from the last to the first
};

// The convolution of conv2d.h with one input and one output channel a group, by vectors of
// kTransposedGroups neighbouring groups. Every plane is transposed there and back: g is the place
// in block b of groups. No plane of the output has fewer than `pixels` pixels, no row of the input
// fewer than `columns`, no image fewer than kTransposedGroups groups.
//
// The last block, tile of columns or of pixels begins before the end of the one before it. Outputs
// are so only where `twice` holds, which may be an argument: where an output is in place of the
// residual it must not be added again.
//
// A plane of the output and the residual is a line: x is all its pixels, y is 0. line(g, pixel, b,
// n) are the sums, in an update over `place`: x, y in a tile, tiles of columns, tiles of rows.
// Rows past the last are past its end. output is an update over `to`: pixel in a tile, group in a
// block, tile, block.
//
// packed(g, tap, b), tap = r * kernel_w + s. Of a filter of known size and four taps or more it is
// an update over tiles of those, `filter`, which are transposed where `dense_taps` holds: a group's
// are next to each other.
struct Conv2dPlanes {
    Halide::Func padded, packed, start, sum, line, output;
    Halide::RDom r, place, to;    // r.x = s, r.y = r
    Halide::RDom sides, outside;  // padded's updates, before that over `tiles`
    TransposedTiles tiles, filter;
    std::vector<Halide::Func> back;
    Halide::Expr window_h, stride_y;  // rows of the input: of a window, from one to the next
};
Conv2dPlanes conv2d_depthwise_planes(const Conv2dOperands &operands, const Conv2dLayout &layout,
                                     const Halide::Expr &pixels, const Halide::Expr &twice,
                                     const Halide::Expr &dense_taps, const PlaneTile &tile);

}  // namespace hk::generators
