#include "generators/tensor_product/tensor_product_stationary.h"

#include "generators/accumulated.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

Expr channel_or_zero(const Expr &channel, const Expr &channels, const Type &sum,
                     const std::function<Expr(Expr)> &value) {
    return select(channel < channels, cast(sum, value(min(channel, channels - 1))), cast(sum, 0));
}

namespace {

// Slots of a block, from its first one, so that s has bounds that no memory tells.
Expr slot(const TensorProductStationaryOperands &op, const Expr &block, const Expr &of_block) {
    return clamp(op.first(block) + of_block, 0, op.slots - 1);
}

Expr offset(const TensorProductStationaryOperands &op, const TensorProductStationary &stages) {
    return unsafe_promise_clamped(op.offset(slot(op, stages.b, stages.s)), 0, op.offsets - 1);
}

// Of the input. What a row without an input row gathers is not read.
Expr gathered_row(const TensorProductStationaryOperands &op,
                  const TensorProductStationary &stages) {
    return unsafe_promise_clamped(max(op.source(stages.i, slot(op, stages.b, stages.s)), 0), 0,
                                  op.input_rows - 1);
}

// From the factors on.
void sum_slots(const TensorProductStationaryOperands &op, const TensorProductStationarySizes &sizes,
               const Type &type, TensorProductStationary &stages) {
    const auto &[m, g, i, b, s, o] =
        std::tie(stages.m, stages.g, stages.i, stages.b, stages.s, stages.o);
    stages.rc = RDom(0, sizes.depth, 0, (op.input_channels + sizes.depth - 1) / sizes.depth, "rc");
    const Expr channel = stages.rc.y * sizes.depth + stages.rc.x;
    stages.product = Func("product");
    stages.product(m, i, g, s, b) = cast(type, 0);
    const auto factor = [&](const Expr &value) {
        return value.type().is_uint() ? reinterpret(type, value) : cast(type, value);
    };
    stages.product(m, i, g, s, b) +=
        factor(stages.matrix(m, channel, g, s, b)) * factor(stages.gathered(channel, i, g, s, b));

    RDom &r = stages.r;
    stages.sum = Func("sum");
    stages.sum(m, i, g, b) = cast(type, 0);
    if (sizes.pairs > 0) {
        r = RDom(0, sizes.pairs, 0, op.most, "r");
        const Expr row = op.target(r.x, slot(op, b, r.y));
        r.where(r.y < op.first(b + 1) - op.first(b));
        r.where(row < sizes.rows);
        stages.sum(m, unsafe_promise_clamped(row, 0, sizes.rows - 1), g, b) +=
            stages.product(m, r.x, g, r.y, b);
    } else {
        r = RDom(0, op.most, "r");
        r.where(r < op.first(b + 1) - op.first(b));
        stages.sum(m, i, g, b) +=
            select(op.source(i, slot(op, b, r)) >= 0, stages.product(m, i, g, r, b), cast(type, 0));
    }

    stages.rows = RDom(0, sizes.rows, 0, op.blocks, "rows");
    const RDom &rows = stages.rows;
    stages.rows.where(op.row(rows.x, rows.y) < op.output_rows);
    const auto target = [&](const Expr &row, const Expr &block) {
        return unsafe_promise_clamped(op.row(row, block), 0, op.output_rows - 1);
    };
    stages.rounded = Func("rounded");
    stages.rounded(m, i, g, b) = accumulated(op.type, stages.sum(m, i, g, b),
                                             op.previous(m, g, target(i, b)), op.accumulate);
    stages.output = Func("result");
    stages.output(m, g, o) = undef(op.type);
    stages.output(m, g, target(rows.x, rows.y)) = stages.rounded(m, rows.x, g, rows.y);
}

}  // namespace

TensorProductStationary tensor_product_stationary(const TensorProductStationaryOperands &op,
                                                  const TensorProductStationarySizes &sizes) {
    TensorProductStationary stages;
    const auto &[m, c, g, i, b, s] =
        std::tie(stages.m, stages.c, stages.g, stages.i, stages.b, stages.s);
    const Type type = op.type == Float(64) ? Float(64) : Float(32);
    const Expr n = offset(op, stages), row = gathered_row(op, stages);
    stages.matrix = Func("matrix");
    stages.matrix(m, c, g, s, b) =
        channel_or_zero(c, op.input_channels, type, [&](const Expr &channel) {
            return op.weight(min(m, op.output_channels - 1), g, channel, n);
        });
    stages.gathered = Func("gathered");
    stages.gathered(c, i, g, s, b) = channel_or_zero(
        c, op.input_channels, type, [&](const Expr &channel) { return op.input(channel, g, row); });
    sum_slots(op, sizes, type, stages);
    return stages;
}

int row_vector(const Type &type) { return 16 / type.bytes(); }

TensorProductStationary tensor_product_products(const TensorProductStationaryOperands &op,
                                                const TensorProductStationarySizes &sizes,
                                                bool transposed) {
    TensorProductStationary stages;
    stages.transposed = transposed;
    const auto &[m, c, g, i, b, s] =
        std::tie(stages.m, stages.c, stages.g, stages.i, stages.b, stages.s);
    // Past the last channel of the input both factors are zeros, past that of the output sums are
    // not written. What is read there is the last vector.
    const int vector = row_vector(op.type);
    const auto there = [&](const Var &channel, const Expr &count) {
        return in_last_vector(channel, count, vector);
    };
    const Expr exists = c / vector * vector < op.input_channels,
               channel = there(c, op.input_channels);
    // Tiles are copied as words.
    const auto or_zero = [&](const Expr &value) {
        if (sizes.pairs == 0) return select(exists, value, cast(op.type, 0));
        const Type words = UInt(op.type.bits());
        return select(exists, reinterpret(words, value), cast(words, 0));
    };
    const Expr column = transposed ? min(m, op.output_channels - 1) : there(m, op.output_channels),
               term = transposed ? channel : min(c, op.input_channels - 1);
    stages.matrix = Func("matrix");
    stages.matrix(m, c, g, s, b) = or_zero(op.weight(column, g, term, offset(op, stages)));
    stages.gathered = Func("gathered");
    stages.gathered(c, i, g, s, b) = or_zero(op.input(channel, g, gathered_row(op, stages)));
    sum_slots(op, sizes, Float(32), stages);
    return stages;
}

}  // namespace hk::generators
