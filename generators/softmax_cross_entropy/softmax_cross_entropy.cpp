#include "generators/softmax_cross_entropy/softmax_cross_entropy.h"

#include <limits>

#include "generators/accumulated.h"
#include "generators/ceil_div.h"
#include "generators/long_sum.h"
#include "generators/nan.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template<typename Function>
Expr largest(int count, Function f, int first = 0) {
    if (count == 1) return f(first);
    const int half = count / 2;
    return max(largest(half, f, first), largest(count - half, f, first + half));
}

// Of a difference from the maximum: below -104 it is 0 in f32. Halide's exponential is made of
// integers that an infinity does not fit.
Expr exponential(const Expr &difference) { return exp(max(difference, -104.f)); }

// NaN where a row's maximum is infinite.
Expr where_finite(const Expr &best, const Expr &value) {
    return select(is_finite(best), value, kNaN);
}

}  // namespace

SoftmaxCrossEntropy softmax_cross_entropy(const SoftmaxCrossEntropyOperands &op, int lanes) {
    SoftmaxCrossEntropy stages;
    const Var &lane = stages.lane, &group = stages.group, &b = stages.b;
    const int width = std::min(lanes, 16);
    const Expr steps = ceil_div(op.classes, lanes);
    // Halide's bounds go over the last row, where tasks of several rows do.
    const Expr row = min(n, op.rows - 1);
    struct Term {
        Expr is_class, element;
    };
    const auto term_of = [&](const Expr &step) {
        const Expr column = step * lanes + lane;
        return Term{likely(column < op.classes), op.logits(clamp(column, 0, op.classes - 1), row)};
    };

    stages.r = RDom(0, steps, "r");
    const Term next = term_of(stages.r);
    stages.lane_best = Func("lane_best");
    stages.lane_best(lane, n) = -kInfinity;
    stages.lane_best(lane, n) =
        max(stages.lane_best(lane, n),
            select(next.is_class,
                   select(is_nan_by_bits(next.element), kInfinity, cast<float>(next.element)),
                   -kInfinity));
    stages.group_best = Func("group_best");
    stages.group_best(group, n) =
        largest(width, [&](int i) { return stages.lane_best(group * width + i, n); });
    stages.best = Func("best");
    stages.best(n) = largest(lanes / width, [&](int i) { return stages.group_best(i, n); });

    const SumBlocks blocks(steps);
    stages.in_block = RDom(0, blocks.length, "in_block");
    stages.blocks = RDom(0, blocks.number, "blocks");
    const Expr step = b * blocks.length + stages.in_block;
    stages.in_block.where(step < steps);
    const Term term = term_of(step);
    stages.block_sum = Func("block_sum");
    stages.block_sum(lane, b, n) +=
        select(term.is_class, exponential(cast<float>(term.element) - stages.best(n)), 0.f);
    stages.lane_sum = Func("lane_sum");
    stages.lane_sum(lane, n) = empty_sum(Float(32));
    stages.lane_sum(lane, n) =
        add_to_sum(stages.lane_sum(lane, n), stages.block_sum(lane, stages.blocks, n));
    stages.lane_total = Func("lane_total");
    stages.lane_total(lane, n) = stages.lane_sum(lane, n)[0];
    stages.group_sum = Func("group_sum");
    stages.group_sum(group, n) =
        tree_sum(width, [&](int i) { return stages.lane_total(group * width + i, n); });
    stages.sum = Func("sum");
    stages.sum(n) = tree_sum(lanes / width, [&](int i) { return stages.group_sum(i, n); });

    stages.label = Func("label");
    stages.label(n) = clamp(op.labels(row), 0, op.classes - 1);
    stages.at_label = Func("at_label");
    stages.at_label(n) = cast<float>(op.logits(stages.label(n), row)) - stages.best(n);
    stages.loss = Func("loss_of_row");
    stages.loss(n) = where_finite(stages.best(n), log(stages.sum(n)) - stages.at_label(n));
    stages.factor = Func("factor");
    stages.factor(n) = where_finite(stages.best(n), op.scale / stages.sum(n));
    const Expr of_label = exponential(stages.at_label(n)) * stages.factor(n) - op.scale;
    const Expr of_other =
        exponential(cast<float>(op.logits(c, n)) - stages.best(n)) * stages.factor(n);
    stages.gradient = Func("gradient_of_row");
    stages.gradient(c, n) = cast(op.type, select(c == stages.label(n), of_label, of_other));
    return stages;
}

}  // namespace hk::generators
