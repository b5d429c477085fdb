#include "generators/conv2d_backward_weight.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

Conv2dBackwardWeight conv2d_backward_weight(const Conv2dBackwardWeightOperands &op, int lanes,
                                            int parts) {
    Conv2dBackwardWeight stages;
    const Var &lane = stages.lane, &part = stages.part;
    stages.padded = with_zeros_around(op.input, op.width, op.height, op.pointwise);
    stages.gradient = Func("gradient");
    stages.gradient(k, g, x, y, n) = cast<float>(op.output_gradient(k, g, x, y, n));

    const RowsInParts rows(op.batch, op.out_h, parts);
    stages.r = RDom(0, (op.out_w + lanes - 1) / lanes, 0, rows.length, "r");
    RDom &d = stages.r;
    d.where(rows.holds(part, d.y));
    const Expr column = d.x * lanes + lane, row = rows.y(part, d.y), image = rows.n(part, d.y);
    const Expr product =
        stages.gradient(k, g, clamp(column, 0, op.out_w - 1), row, image) *
        stages.padded(c, g, column * op.stride_x + s * op.dilation_x - op.padding_left,
                      row * op.stride_y + r * op.dilation_y - op.padding_top, image);
    stages.partial = Func("partial");
    stages.partial(lane, c, s, r, k, g, part) = 0.f;
    stages.partial(lane, c, s, r, k, g, part) +=
        lanes == 1 ? product : select(likely(column < op.out_w), product, 0.f);

    stages.folded = Func("folded");
    stages.folded(c, s, r, k, g, part) =
        tree_sum(lanes, [&](int l) { return stages.partial(l, c, s, r, k, g, part); });
    stages.sum = Func("sum");
    stages.sum(c, s, r, k, g) =
        tree_sum(parts, [&](int p) { return stages.folded(c, s, r, k, g, p); });
    stages.output = Func("result");
    stages.output(c, s, r, k, g) =
        accumulated(op.type, stages.sum(c, s, r, k, g), op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
