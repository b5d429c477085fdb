#pragma once
// The gradient of a filter (generators/conv2d_backward/conv2d_backward_weight.h) as a product of
// matrices packed in panels: a tile of both images is copied, so many channels, or filters, of a
// pixel after those of the next one, as products of matrices in caches want them.

#include "generators/conv2d_backward/conv2d_backward_weight.h"

namespace hk::generators {

struct WeightPanels {
    int channels, filters;  // of a panel
    int pixels;             // of a tile
    bool whole;             // all pixels of all images are one tile
};

// v is a channel of panel vb, u a filter of panel ub. input_panel(v, x, y, n, vb, g) has zeros
// around the image; what gradient_panel(u, x, y, n, ub, g) has past the last pixel, and both past
// the last channel, is read, and not used.
//
// A tile is pixels of one image, or whole images where several fit. Its sums, tile_sum(v, u, s, r,
// vb, ub, g, tx, ty, tn), are over pixel.x, pixel.y and pixel.z, images. sum(v, u, s, r, vb, ub, g)
// adds up the tiles, over of.x = tx, of.y = ty and of.z = tn, one after the other.
struct Conv2dBackwardWeightPanels {
    Halide::Var v{"v"}, u{"u"}, vb{"vb"}, ub{"ub"}, tx{"tx"}, ty{"ty"}, tn{"tn"};
    Halide::Func input_panel, gradient_panel, tile_sum, sum, output;
    Halide::RDom pixel, of;
};
Conv2dBackwardWeightPanels conv2d_backward_weight_panels(
    const Conv2dBackwardWeightOperands &operands, const WeightPanels &panels);

}  // namespace hk::generators
