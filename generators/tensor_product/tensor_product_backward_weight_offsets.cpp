#include "generators/tensor_product/tensor_product_backward_weight_offsets.h"

#include "generators/accumulated.h"
#include "generators/ceil_div.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

// Of a slice's pairs, of which none is past its end.
struct Gathered {
    Func rows, row;
    Expr there, count;  // the channel, or one that stands for it; of rows

    Expr operator()(const TensorProductBackwardWeightOperands &op, const Type &type) const {
        const Expr begin = op.begin(s), length = op.begin(s + 1) - begin;
        const Expr place = row(clamp(begin + i, 0, op.pairs - 1));
        const Expr value = rows(there, g, unsafe_promise_clamped(place, 0, count - 1));
        return select(i < length, cast(type, value), cast(type, 0));
    }
};

// From the factors on.
void sum_pairs(const TensorProductBackwardWeightOperands &op, int pairs, const Type &type,
               TensorProductBackwardWeightOffsets &stages) {
    const Expr length = op.begin(s + 1) - op.begin(s);
    stages.pair = RDom(0, pairs, 0, (op.most + pairs - 1) / pairs, "pair");
    stages.pair.where(stages.pair.y * pairs < length);
    const Expr pair = stages.pair.y * pairs + stages.pair.x;
    stages.sum = Func("sum");
    stages.sum(m, c, g, s) = cast(type, 0);
    stages.sum(m, c, g, s) +=
        cast(type, stages.input(c, pair, g, s)) * cast(type, stages.output_gradient(m, pair, g, s));
    stages.part = Func("part");
    stages.part(m, c, g, s) = stages.sum(m, c, g, s);
    stages.input_channels = op.input_channels;
    stages.output_channels = op.output_channels;
    stages.groups = op.groups;
    stages.slices = op.slices;
}

// An offset's slice, from 0 on; its place has bounds that no memory tells.
Expr part_of(const TensorProductBackwardWeightOperands &op, const Expr &slice,
             const TensorProductBackwardWeightOffsets &stages) {
    return stages.part(m, c, g, clamp(op.first(n) + slice, 0, op.slices - 1));
}

void write(const TensorProductBackwardWeightOperands &op, const Expr &total,
           TensorProductBackwardWeightOffsets &stages) {
    stages.output = Func("result");
    stages.output(m, g, c, n) = accumulated(op.type, total, op.previous(m, g, c, n), op.accumulate);
}

}  // namespace

TensorProductBackwardWeightOffsets tensor_product_backward_weight_offsets(
    const TensorProductBackwardWeightOperands &op, int pairs, bool vectors) {
    TensorProductBackwardWeightOffsets stages;
    stages.vectors = vectors;
    const Type type = op.type == Float(64) ? Float(64) : Float(32);
    const auto there = [&](const Var &channel, const Expr &count) {
        return vectors ? in_last_vector(channel, count, kWordVector) : min(channel, count - 1);
    };
    stages.input = Func("gathered_input");
    stages.input(c, i, g, s) =
        Gathered{op.input, op.source, there(c, op.input_channels), op.input_rows}(op, type);
    stages.output_gradient = Func("gathered_gradient");
    stages.output_gradient(m, i, g, s) = Gathered{
        op.output_gradient, op.target, there(m, op.output_channels), op.output_rows}(op, type);
    sum_pairs(op, pairs, type, stages);
    stages.total = Func("total");
    stages.slice = RDom(0, op.slices, "slice");
    stages.slice.where(stages.slice < op.first(n + 1) - op.first(n));
    stages.total(m, g, c, n) = cast(type, 0);
    stages.total(m, g, c, n) += part_of(op, stages.slice, stages);
    write(op, stages.total(m, g, c, n), stages);
    return stages;
}

TensorProductBackwardWeightOffsets tensor_product_backward_weight_products(
    const TensorProductBackwardWeightOperands &op) {
    TensorProductBackwardWeightOffsets stages;
    stages.input = Func("gathered_input");
    stages.input(c, i, g, s) =
        Gathered{op.input, op.source, in_last_vector(c, op.input_channels, kPairVector),
                 op.input_rows}(op, op.type);
    stages.output_gradient = Func("gathered_gradient");
    stages.output_gradient(m, i, g, s) =
        Gathered{op.output_gradient, op.target, in_last_vector(m, op.output_channels, kPairVector),
                 op.output_rows}(op, op.type);
    sum_pairs(op, kProductPairs, Float(32), stages);
    const Var &share = stages.share;
    const Expr slices = op.first(n + 1) - op.first(n);
    stages.slice = RDom(0, ceil_div(op.slices, kSliceShares), "slice");
    stages.slice.where(stages.slice * kSliceShares < slices);
    const Expr slice = stages.slice * kSliceShares + share;
    stages.total = Func("total");
    stages.total(m, g, c, n, share) = 0.f;
    // Past the last slice that one again, so that no load waits for a condition.
    stages.total(m, g, c, n, share) +=
        select(slice < slices, part_of(op, min(slice, slices - 1), stages), 0.f);
    write(op, tree_sum(kSliceShares, [&](int i) { return stages.total(m, g, c, n, i); }), stages);
    return stages;
}

}  // namespace hk::generators
