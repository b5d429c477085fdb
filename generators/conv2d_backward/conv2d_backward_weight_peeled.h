#pragma once
// The gradient of a depthwise filter (generators/conv2d_backward/conv2d_backward_weight.h), of
// images in nhwc that are read where they are: no copy has zeros around it.

#include "generators/conv2d_backward/conv2d_backward_weight.h"

namespace hk::generators {

// Rows of the output are divided in tiles of about `pixels` pixels, and tiles in up to 16 parts, of
// at least so many products.
struct PeeledTiles {
    int pixels, products;
};

// tile_sum(g, s, r, tile, part) is first over the columns of the output whose windows reach past
// the left edge, left.x of row left.y of the tile, then over those that reach past the right one,
// and then over all others, interior.x and interior.y: the borders are peeled off, so that the loop
// over the interior asks for no edge. Rows of the filter that meet none of the input are left out.
// gradient(g, x, y, tile, part) is the output's, of row y of a tile, for the interior.
//
// partial(g, s, r, part) adds up the tiles of a part, of.x, and sum(g, s, r) the parts: the order
// depends on the shape alone, and no sum is longer than a tile, or a row, or than the number of
// tiles. Groups are a multiple of what is computed at once.
struct Conv2dBackwardWeightPeeled {
    Halide::Var tile{"tile"}, part{"part"};
    Halide::Func gradient, tile_sum, partial, sum, output;
    Halide::RDom left, right, interior, of, parts;
};
Conv2dBackwardWeightPeeled conv2d_backward_weight_peeled(
    const Conv2dBackwardWeightOperands &operands, const PeeledTiles &tiles);

}  // namespace hk::generators
