#include "generators/softmax_cross_entropy.h"

#include <limits>

#include "generators/accumulated.h"
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
    const Var &lane = stages.lane, &group = stages.group;
    const int width = std::min(lanes, 16);
    stages.r = RDom(0, ceil_div(op.classes, lanes), "r");
    const Expr column = stages.r * lanes + lane;
    const Expr is_class = likely(column < op.classes);
    // Halide's bounds go over the last row, where tasks of several rows do.
    const Expr row = min(n, op.rows - 1);
    const Expr element = op.logits(clamp(column, 0, op.classes - 1), row);
    const Expr of_lane = cast<float>(element);

    stages.lane_best = Func("lane_best");
    stages.lane_best(lane, n) = -kInfinity;
    stages.lane_best(lane, n) =
        max(stages.lane_best(lane, n),
            select(is_class, select(is_nan_by_bits(element), kInfinity, of_lane), -kInfinity));
    stages.group_best = Func("group_best");
    stages.group_best(group, n) =
        largest(width, [&](int i) { return stages.lane_best(group * width + i, n); });
    stages.best = Func("best");
    stages.best(n) = largest(lanes / width, [&](int i) { return stages.group_best(i, n); });

    stages.lane_sum = Func("lane_sum");
    stages.lane_sum(lane, n) += select(is_class, exponential(of_lane - stages.best(n)), 0.f);
    stages.group_sum = Func("group_sum");
    stages.group_sum(group, n) =
        tree_sum(width, [&](int i) { return stages.lane_sum(group * width + i, n); });
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
