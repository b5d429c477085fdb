#include "generators/conv2d_backward/conv2d_backward_bias.h"

#include "generators/accumulated.h"
#include "generators/long_sum.h"

using namespace Halide;

namespace hk::generators {

Conv2dBackwardBias conv2d_backward_bias(const Conv2dBackwardBiasOperands &op, int lanes,
                                        int parts) {
    Conv2dBackwardBias stages;
    const Var &lane = stages.lane, &part = stages.part, &bx = stages.bx, &by = stages.by;
    const RowsInParts rows(op.batch, op.out_h, parts);
    const Expr steps = ceil_div(op.out_w, lanes);
    const SumBlocks across(steps), down(rows.length, kLongestSum / max(across.length, 1));
    stages.in_block = RDom(0, across.length, 0, down.length, "in_block");
    RDom &d = stages.in_block;
    const Expr step = bx * across.length + d.x, row = by * down.length + d.y;
    if (lanes == 1) d.where(step < steps);  // else lanes past the last column have zeros
    d.where(row < rows.length && rows.holds(part, row));
    const Expr column = step * lanes + lane;
    // Blocks of lanes may have a filter past the last one, which is not stored.
    const Expr filter = lanes == 1 ? Expr(k) : min(k, op.filters - 1);
    const Expr term = cast<float>(op.output_gradient(filter, g, clamp(column, 0, op.out_w - 1),
                                                     rows.y(part, row), rows.n(part, row)));
    stages.block_sum = Func("block_sum");
    stages.block_sum(lane, k, g, part, bx, by) = 0.f;
    stages.block_sum(lane, k, g, part, bx, by) +=
        lanes == 1 ? term : select(likely(column < op.out_w), term, 0.f);
    stages.blocks = RDom(0, across.number, 0, down.number, "blocks");
    stages.running = Func("running");
    stages.running(lane, k, g, part) = empty_sum(Float(32));
    stages.running(lane, k, g, part) =
        add_to_sum(stages.running(lane, k, g, part),
                   stages.block_sum(lane, k, g, part, stages.blocks.x, stages.blocks.y));
    stages.partial = Func("partial");
    stages.partial(lane, k, g, part) = stages.running(lane, k, g, part)[0];

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
