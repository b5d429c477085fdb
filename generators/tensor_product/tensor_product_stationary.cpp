#include "generators/tensor_product/tensor_product_stationary.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

Expr channel_or_zero(const Expr &channel, const Expr &channels, const Type &sum,
                     const std::function<Expr(Expr)> &value) {
    return select(channel < channels, cast(sum, value(min(channel, channels - 1))), cast(sum, 0));
}

TensorProductStationary tensor_product_stationary(const TensorProductStationaryOperands &op,
                                                  const TensorProductStationarySizes &sizes) {
    TensorProductStationary stages;
    const auto &[m, c, g, i, b, s, o] =
        std::tie(stages.m, stages.c, stages.g, stages.i, stages.b, stages.s, stages.o);
    const Type type = op.type == Float(64) ? Float(64) : Float(32);
    // From the block's first slot, so that s has bounds that no memory tells.
    const auto slot = [&](const Expr &of_block) {
        return clamp(op.first(b) + of_block, 0, op.slots - 1);
    };

    const Expr n = unsafe_promise_clamped(op.offset(slot(s)), 0, op.offsets - 1);
    stages.matrix = Func("matrix");
    stages.matrix(m, c, g, s, b) =
        channel_or_zero(c, op.input_channels, type, [&](const Expr &channel) {
            return op.weight(min(m, op.output_channels - 1), g, channel, n);
        });

    // What a row without an input row gathers is not read.
    const Expr row = unsafe_promise_clamped(max(op.source(i, slot(s)), 0), 0, op.input_rows - 1);
    stages.gathered = Func("gathered");
    stages.gathered(c, i, g, s, b) = channel_or_zero(
        c, op.input_channels, type, [&](const Expr &channel) { return op.input(channel, g, row); });

    stages.rc = RDom(0, sizes.depth, 0, (op.input_channels + sizes.depth - 1) / sizes.depth, "rc");
    const Expr channel = stages.rc.y * sizes.depth + stages.rc.x;
    stages.product = Func("product");
    stages.product(m, i, g, s, b) = cast(type, 0);
    stages.product(m, i, g, s, b) +=
        stages.matrix(m, channel, g, s, b) * stages.gathered(channel, i, g, s, b);

    stages.r = RDom(0, op.most, "r");
    stages.r.where(stages.r < op.first(b + 1) - op.first(b));
    stages.sum = Func("sum");
    stages.sum(m, i, g, b) = cast(type, 0);
    stages.sum(m, i, g, b) += select(op.source(i, slot(stages.r)) >= 0,
                                     stages.product(m, i, g, stages.r, b), cast(type, 0));

    stages.rows = RDom(0, sizes.rows, 0, op.blocks, "rows");
    const RDom &rows = stages.rows;
    stages.rows.where(op.row(rows.x, rows.y) < op.output_rows);
    const Expr target = unsafe_promise_clamped(op.row(rows.x, rows.y), 0, op.output_rows - 1);
    const Expr total = stages.sum(m, rows.x, g, rows.y);
    stages.output = Func("result");
    stages.output(m, g, o) = undef(op.type);
    stages.output(m, g, target) =
        accumulated(op.type, total, op.previous(m, g, target), op.accumulate);
    return stages;
}

}  // namespace hk::generators
