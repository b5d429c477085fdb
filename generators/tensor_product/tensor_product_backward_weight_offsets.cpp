#include "generators/tensor_product/tensor_product_backward_weight_offsets.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

TensorProductBackwardWeightOffsets tensor_product_backward_weight_offsets(
    const TensorProductBackwardWeightOperands &op, int pairs) {
    TensorProductBackwardWeightOffsets stages;
    const Type type = op.type == Float(64) ? Float(64) : Float(32);
    const Expr zero = cast(type, 0), begin = op.begin(s), length = op.begin(s + 1) - begin;

    const auto gathered = [&](const Func &rows, const Func &row, const Expr &channel,
                              const Expr &channels, const Expr &count) {
        const Expr place = row(clamp(begin + i, 0, op.pairs - 1));
        const Expr value =
            rows(min(channel, channels - 1), g, unsafe_promise_clamped(place, 0, count - 1));
        return select(i < length, cast(type, value), zero);
    };
    stages.input = Func("gathered_input");
    stages.input(c, i, g, s) = gathered(op.input, op.source, c, op.input_channels, op.input_rows);
    stages.output_gradient = Func("gathered_gradient");
    stages.output_gradient(m, i, g, s) =
        gathered(op.output_gradient, op.target, m, op.output_channels, op.output_rows);

    stages.pair = RDom(0, pairs, 0, (op.most + pairs - 1) / pairs, "pair");
    stages.pair.where(stages.pair.y * pairs < length);
    const Expr pair = stages.pair.y * pairs + stages.pair.x;
    stages.sum = Func("sum");
    stages.sum(m, c, g, s) = zero;
    stages.sum(m, c, g, s) += stages.input(c, pair, g, s) * stages.output_gradient(m, pair, g, s);
    stages.part = Func("part");
    stages.part(m, c, g, s) = stages.sum(m, c, g, s);

    stages.slice = RDom(0, op.slices, "slice");
    stages.slice.where(stages.slice < op.first(n + 1) - op.first(n));
    stages.total = Func("total");
    stages.total(m, g, c, n) = zero;
    stages.total(m, g, c, n) +=
        stages.part(m, c, g, clamp(op.first(n) + stages.slice, 0, op.slices - 1));
    stages.output = Func("result");
    const Expr total = stages.total(m, g, c, n);
    stages.output(m, g, c, n) = accumulated(op.type, total, op.previous(m, g, c, n), op.accumulate);
    return stages;
}

}  // namespace hk::generators
