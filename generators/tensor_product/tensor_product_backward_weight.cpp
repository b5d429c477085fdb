#include "generators/tensor_product/tensor_product_backward_weight.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

TensorProductBackwardWeight tensor_product_backward_weight(
    const TensorProductBackwardWeightOperands &op, const WeightGradientSizes &sizes) {
    TensorProductBackwardWeight stages;
    const Type type = op.type == Float(64) ? Float(64) : Float(32);
    const Expr zero = cast(type, 0);

    // From the slice's first chunk, so that q has bounds that no memory tells.
    const auto chunk = [&](const Expr &of_slice) {
        return clamp(op.first(s) + of_slice, 0, op.chunks - 1);
    };
    const Expr begin = op.begin(chunk(q)), length = op.begin(chunk(q) + 1) - begin;
    const auto row_of = [&](const Func &rows, const Expr &count) {
        return unsafe_promise_clamped(rows(clamp(begin + i, 0, op.pairs - 1)), 0, count - 1);
    };
    // Past the last channel the last one stands again: nobody reads its sums.
    stages.input = Func("gathered_input");
    stages.input(c, i, q, s) = cast(
        type, op.input(min(likely(c), op.input_channels - 1), 0, row_of(op.source, op.input_rows)));
    const Expr channel = sizes.exact ? Expr(m) : min(likely(m), op.output_channels - 1);
    stages.output_gradient = Func("gathered_gradient");
    stages.output_gradient(m, i, q, s) =
        cast(type, op.output_gradient(channel, 0, row_of(op.target, op.output_rows)));

    stages.pair = RDom(0, sizes.pairs, "pair");
    stages.pair.where(stages.pair < length);
    stages.product = Func("product");
    stages.product(mi, ci, mo, co, q, s) = zero;
    stages.product(mi, ci, mo, co, q, s) +=
        stages.input(co * sizes.depth + ci, stages.pair, q, s) *
        stages.output_gradient(mo * sizes.channels + mi, stages.pair, q, s);

    stages.chunk = RDom(0, op.most, "chunk");
    stages.chunk.where(stages.chunk < op.first(s + 1) - op.first(s));
    const Expr offset = unsafe_promise_clamped(op.offset(chunk(stages.chunk)), 0, op.offsets - 1);
    stages.part = Func("part");
    stages.part(mi, ci, mo, co, n, s) = zero;
    stages.part(mi, ci, mo, co, offset, s) += stages.product(mi, ci, mo, co, stages.chunk, s);

    stages.slice = RDom(0, op.slices, "slice");
    stages.sum = Func("sum");
    stages.sum(mi, ci, mo, co, n) = zero;
    stages.sum(mi, ci, mo, co, n) += stages.part(mi, ci, mo, co, n, stages.slice);

    const Expr total =
        stages.sum(m % sizes.channels, c % sizes.depth, m / sizes.channels, c / sizes.depth, n);
    stages.output = Func("result");
    stages.output(m, g, c, n) = accumulated(op.type, total, op.previous(m, g, c, n), op.accumulate);
    return stages;
}

}  // namespace hk::generators
