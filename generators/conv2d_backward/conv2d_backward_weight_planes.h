#pragma once
// The gradient of a 1x1 filter (generators/conv2d_backward/conv2d_backward_weight.h), of images in
// nchw whose planes are lines of pixels next to each other: one of the two images is transposed, a
// tile at a time, the other is read where it is.

#include "generators/conv2d_backward/conv2d_backward_weight.h"

namespace hk::generators {

struct PlaneTiles {
    int pixels;       // of a tile, a multiple of kPlaneVector
    int vectors;      // places of a block, of which vectors are: a multiple of kPlaneVector
    bool whole;       // all pixels of all images are one tile
    bool of_filters;  // vectors are of filters
};
inline constexpr int kPlaneVector = 16;  // pixels and places of what is transposed at once
inline constexpr int kPlaneBack = 8;     // of vectors of filters: channels and filters, at the end

// Vectors are of channels, and what they are multiplied by is the output's gradient, or the other
// way round: v is a place in vectors, of block vb, and u one of the others. Vectors come in whole
// blocks, and where they are of filters, channels in multiples of kPlaneBack. An image has
// kPlaneVector pixels or more.
//
// A tile is pixels of one image, or whole images where several fit. panel(v, q, vb, tx, tn, g) is
// the transposed copy, by the steps `there`, run.x is a column of a run, run.y the run and run.z
// the image. q counts a tile's pixels, from kPlaneVector on: the last run, which ends where the
// plane does, may begin before the tile.
//
// tile_sum(v, vb, u, tx, tn, g) is over pixel.x (of an image) and pixel.y (images); sum(v, vb, u,
// g) adds up the tiles, over of.x = tx and of.y = tn, one after the other. Where all pixels are one
// tile, it is not defined. Vectors of filters are transposed at the end, by the steps `back`.
struct Conv2dBackwardWeightPlanes {
    Halide::Var v{"v"}, vb{"vb"}, u{"u"}, tx{"tx"}, tn{"tn"};
    std::vector<Halide::Func> there, back;
    Halide::Func panel, tile_sum, sum, output;
    Halide::RDom run, pixel, of;
};
Conv2dBackwardWeightPlanes conv2d_backward_weight_planes(
    const Conv2dBackwardWeightOperands &operands, const PlaneTiles &tiles);

}  // namespace hk::generators
