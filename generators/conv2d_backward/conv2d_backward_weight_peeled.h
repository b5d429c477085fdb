#pragma once
// The gradient of a depthwise filter (generators/conv2d_backward/conv2d_backward_weight.h), of
// images in nhwc that are read where they are, or planes of nchw that are transposed to that: no
// copy has zeros around it.

#include "generators/conv2d_backward/conv2d_backward_weight.h"
#include "generators/conv2d_backward/transposed_planes.h"

namespace hk::generators {

// Rows of the output are divided in tiles of about `pixels` pixels, and tiles in up to 16 parts, of
// at least so many products. Rows are steps of so many columns.
struct PeeledTiles {
    int step, pixels, products;
    bool whole;       // groups are a multiple of what is computed at once
    bool tail_apart;  // else: those past the last whole block have loops of their own
    int transposed = 0;  // of nchw: planes of so many groups are transposed at once
};

// tile_sum(g, s, r, tile, part) is over columns pixel.x of a step, steps pixel.y, and rows pixel.z
// of a tile. What windows have outside of the input is left out by conditions on a step and a row:
// loops over steps and rows come in three pieces, of which the one in the middle asks for nothing.
// gradient(g, column, step, y, tile, part) is the output's, of row y of a tile. Where groups end
// within a block, what is past them is not read, and may be anything.
//
// partial(g, s, r, part) adds up the tiles of a part, of.x, and sum(g, s, r) the parts: the order
// depends on the shape alone, and no sum is longer than a tile, or a row, or than the number of
// tiles.
struct Conv2dBackwardWeightPeeled {
    Halide::Var column{"column"}, step{"step"}, tile{"tile"}, part{"part"};
    Halide::Func gradient, tile_sum, partial, sum, output;
    Halide::RDom pixel, of, parts;
    TransposedPlanes input_planes, gradient_planes;  // where planes are transposed
};
Conv2dBackwardWeightPeeled conv2d_backward_weight_peeled(
    const Conv2dBackwardWeightOperands &operands, const PeeledTiles &tiles);

}  // namespace hk::generators
