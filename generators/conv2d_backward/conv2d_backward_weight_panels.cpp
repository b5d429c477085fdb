#include "generators/conv2d_backward/conv2d_backward_weight_panels.h"

#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Range kAll = {Expr(), Expr()};

// Channels past the last one, which the last vectors may have, are anything.
Func in_vectors(const Func &image, const Expr &channels) {
    const Expr inside = likely(c < channels);
    Func vectors("vectors");
    vectors(c, g, x, y, n) = cast<float>(
        loaded_if(inside, image(unsafe_promise_clamped(c, 0, channels - 1), g, x, y, n)));
    return vectors;
}

void pack(const Conv2dBackwardWeightOperands &op, const WeightPanels &size,
          Conv2dBackwardWeightPanels &stages) {
    const Func input = with_zeros_around(
        BoundaryConditions::repeat_edge(in_vectors(op.input, op.channels),
                                        Region{kAll, kAll, kAll, kAll, {0, op.batch}}),
        op.width, op.height, false);
    const Func gradient = BoundaryConditions::repeat_edge(
        in_vectors(op.output_gradient, op.filters),
        Region{kAll, kAll, {0, op.out_w}, {0, op.out_h}, {0, op.batch}});
    const Var &v = stages.v, &u = stages.u, &vb = stages.vb, &ub = stages.ub;
    stages.input_panel = Func("input_panel");
    stages.input_panel(v, x, y, n, vb, g) = input(vb * size.channels + v, g, x, y, n);
    stages.gradient_panel = Func("gradient_panel");
    stages.gradient_panel(u, x, y, n, ub, g) = gradient(ub * size.filters + u, g, x, y, n);
}

}  // namespace

Conv2dBackwardWeightPanels conv2d_backward_weight_panels(const Conv2dBackwardWeightOperands &op,
                                                         const WeightPanels &size) {
    Conv2dBackwardWeightPanels stages;
    pack(op, size, stages);
    const Var &v = stages.v, &u = stages.u, &vb = stages.vb, &ub = stages.ub;
    const Var &tx = stages.tx, &ty = stages.ty, &tn = stages.tn;

    const Expr tiles_x = size.whole ? Expr(1) : ceil_div(op.out_w, size.pixels);
    const Expr columns = ceil_div(op.out_w, tiles_x);
    const Expr tiles_y = size.whole ? Expr(1) : ceil_div(op.out_h, max(size.pixels / columns, 1));
    const Expr rows = ceil_div(op.out_h, tiles_y);
    const Expr images = size.whole ? op.batch : clamp(size.pixels / (columns * rows), 1, op.batch);
    stages.pixel = RDom(0, columns, 0, rows, 0, images, "pixel");
    RDom &p = stages.pixel;
    const Expr column = tx * columns + p.x, row = ty * rows + p.y, image = tn * images + p.z;
    if (!size.whole) {
        // Past the last one the sum stays: a product with zero may be no number.
        p.where(column < op.out_w);
        p.where(row < op.out_h);
        p.where(image < op.batch);
    }
    stages.tile_sum = Func("tile_sum");
    stages.tile_sum(v, u, s, r, vb, ub, g, tx, ty, tn) = 0.f;
    stages.tile_sum(v, u, s, r, vb, ub, g, tx, ty, tn) +=
        stages.gradient_panel(u, column, row, image, ub, g) *
        stages.input_panel(v, column * op.stride_x + s * op.dilation_x - op.padding_left,
                           row * op.stride_y + r * op.dilation_y - op.padding_top, image, vb, g);

    stages.sum = Func("sum");
    if (size.whole) {
        stages.sum(v, u, s, r, vb, ub, g) = stages.tile_sum(v, u, s, r, vb, ub, g, 0, 0, 0);
    } else {
        stages.of = RDom(0, tiles_x, 0, tiles_y, 0, ceil_div(op.batch, images), "of");
        const RDom &of = stages.of;
        stages.sum(v, u, s, r, vb, ub, g) = 0.f;
        stages.sum(v, u, s, r, vb, ub, g) +=
            stages.tile_sum(v, u, s, r, vb, ub, g, of.x, of.y, of.z);
    }
    stages.output = result(op, stages.sum(c % size.channels, k % size.filters, s, r,
                                          c / size.channels, k / size.filters, g));
    return stages;
}

}  // namespace hk::generators
