#include "generators/conv2d_backward_bias.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

Conv2dBackwardBias conv2d_backward_bias(const Conv2dBackwardBiasOperands &op, int lanes,
                                        int parts) {
    Conv2dBackwardBias stages;
    const Var &lane = stages.lane, &part = stages.part;
    const RowsInParts rows(op.batch, op.out_h, parts);
    stages.r = RDom(0, (op.out_w + lanes - 1) / lanes, 0, rows.length, "r");
    RDom &d = stages.r;
    d.where(rows.holds(part, d.y));
    const Expr column = d.x * lanes + lane;
    const Expr term = cast<float>(op.output_gradient(k, g, clamp(column, 0, op.out_w - 1),
                                                     rows.y(part, d.y), rows.n(part, d.y)));
    stages.partial = Func("partial");
    stages.partial(lane, k, g, part) = 0.f;
    stages.partial(lane, k, g, part) +=
        lanes == 1 ? term : select(likely(column < op.out_w), term, 0.f);

    stages.folded = Func("folded");
    stages.folded(k, g, part) =
        tree_sum(lanes, [&](int l) { return stages.partial(l, k, g, part); });
    stages.sum = Func("sum");
    stages.sum(k, g) = tree_sum(parts, [&](int p) { return stages.folded(k, g, p); });
    stages.output = Func("result");
    stages.output(k, g) = accumulated(op.type, stages.sum(k, g), op.previous(k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
