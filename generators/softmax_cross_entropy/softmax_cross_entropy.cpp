#include "generators/softmax_cross_entropy/softmax_cross_entropy.h"

#include <functional>
#include <limits>

#include "generators/accumulated.h"
#include "generators/ceil_div.h"
#include "generators/exponential.h"
#include "generators/long_sum.h"
#include "generators/nan.h"
#include "generators/optional.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Of a difference from the maximum: below -104 it is 0 in f32. Halide's exponential is made of
// integers that an infinity does not fit. CUDA's instruction is off by 2^-22 and |difference| *
// 2^-24 of itself, and of a NaN it is one.
Expr exp_of_difference(const Expr &difference, const Target &target) {
    if (!target.has_feature(Target::CUDA)) return exp(max(difference, -104.f));
    return Internal::Call::make(Float(32), "llvm.nvvm.ex2.approx.f", {difference * 1.44269504f},
                                Internal::Call::PureExtern);
}

// NaN where a row's maximum, or sum, is infinite or NaN, as that is less itself.
Expr where_finite(const Expr &best, const Expr &value) {
    return strict_float(value + (best - best));
}

struct Form {
    int lanes, of_group;  // of_group 0: lanes are folded by halves
    bool guarded;         // nothing is asked for past the last class
    // The logit of a column, any value past the last class, and its power, 0 there.
    std::function<Expr(const Expr &column)> logit, power;
};

// Of all lanes one.
template<typename Combine>
Expr folded(SoftmaxCrossEntropy &stages, const Form &form, Func of_lane, Func of_group,
            Combine combine) {
    if (form.of_group == 0) {
        for (int half = form.lanes / 2; half > 0; half /= 2) {
            Func next("half");
            next(stages.lane, n) = combine(of_lane(stages.lane, n), of_lane(stages.lane + half, n));
            stages.halves.push_back(of_lane = next);
        }
        return of_lane(0, n);
    }
    const int groups = form.lanes / form.of_group;
    of_group(stages.group, n) = tree(
        form.of_group, combine, [&](int i) { return Expr(of_lane(stages.group + i * groups, n)); });
    return tree(groups, combine, [&](int i) { return Expr(of_group(i, n)); });
}

void find_best(SoftmaxCrossEntropy &stages, const SoftmaxCrossEntropyOperands &op,
               const Form &form) {
    const Var &lane = stages.lane;
    // Halide's bounds go over the last row, where tasks of several rows do.
    stages.logit = Func("logit");
    stages.logit(c, n) = op.logits(c, min(likely(n), op.rows - 1));
    stages.r = RDom(0, ceil_div(op.classes, form.lanes), "r");
    const Expr column = stages.r * form.lanes + lane;
    const Expr element = form.logit(column);
    // By the instruction the power of a NaN is one, and so the sum.
    Expr value = cast<float>(element);
    if (!op.target.has_feature(Target::CUDA))
        value = select(is_nan_as_loaded(element, op.target), kInfinity, value);
    if (form.guarded)
        stages.r.where(column < op.classes);
    else
        value = select(likely(column < op.classes), value, -kInfinity);
    stages.lane_best = Func("lane_best");
    stages.lane_best(lane, n) = -kInfinity;
    stages.lane_best(lane, n) = max(stages.lane_best(lane, n), value);
    stages.group_best = Func("group_best");
    stages.best = Func("best");
    stages.best(n) = folded(stages, form, stages.lane_best, stages.group_best,
                            [](const Expr &a, const Expr &b) { return max(a, b); });
}

void add_powers(SoftmaxCrossEntropy &stages, const SoftmaxCrossEntropyOperands &op,
                const Form &form) {
    const Var &lane = stages.lane, &b = stages.b;
    const Expr steps = ceil_div(op.classes, form.lanes);
    const SumBlocks blocks(steps);
    stages.in_block = RDom(0, blocks.length, "in_block");
    stages.blocks = RDom(0, blocks.number, "blocks");
    const Expr step = b * blocks.length + stages.in_block, column = step * form.lanes + lane;
    stages.in_block.where(form.guarded ? column < op.classes : step < steps);
    stages.block_sum = Func("block_sum");
    stages.block_sum(lane, b, n) += form.power(column);
    stages.lane_sum = Func("lane_sum");
    stages.lane_sum(lane, n) = empty_sum(Float(32));
    // Powers are at most 1, or NaN.
    stages.lane_sum(lane, n) =
        add_to_sum(stages.lane_sum(lane, n), stages.block_sum(lane, stages.blocks, n), true);
    stages.lane_total = Func("lane_total");
    stages.lane_total(lane, n) = stages.lane_sum(lane, n)[0];
    stages.group_sum = Func("group_sum");
    stages.sum = Func("sum");
    stages.sum(n) = folded(stages, form, stages.lane_total, stages.group_sum,
                           [](const Expr &a, const Expr &b) { return a + b; });
}

void find_loss(SoftmaxCrossEntropy &stages, const SoftmaxCrossEntropyOperands &op) {
    stages.label = Func("label");
    stages.label(n) = clamp(op.labels(min(likely(n), op.rows - 1)), 0, op.classes - 1);
    stages.at_label = Func("at_label");
    stages.at_label(n) = cast<float>(stages.logit(stages.label(n), n)) - stages.best(n);
    stages.loss = Func("loss_of_row");
    // The logarithm of a NaN, which a sum may be on CUDA, is any number.
    const Expr loss = where_finite(stages.sum(n), log(stages.sum(n)) - stages.at_label(n));
    stages.loss(n) = where_finite(stages.best(n), loss);
    stages.factor = Func("factor");
    stages.factor(n) = where_finite(stages.best(n), op.scale / stages.sum(n));
}

}  // namespace

SoftmaxCrossEntropy softmax_cross_entropy(const SoftmaxCrossEntropyOperands &op, int lanes) {
    SoftmaxCrossEntropy stages;
    const auto power_of = [&](const Expr &logit) {
        return exp_of_difference(cast<float>(logit) - stages.best(n), op.target);
    };
    Form form = {lanes, std::min(lanes, 16), true};
    form.logit = [&](const Expr &column) {
        return stages.logit(unsafe_promise_clamped(column, 0, op.classes - 1), n);
    };
    form.power = [&](const Expr &column) { return power_of(form.logit(column)); };
    find_best(stages, op, form);
    add_powers(stages, op, form);
    find_loss(stages, op);
    const Expr of_label =
        exp_of_difference(stages.at_label(n), op.target) * stages.factor(n) - op.scale;
    stages.of_gradient = Func("of_gradient");
    stages.of_gradient(n) = Tuple(stages.best(n), stages.factor(n), stages.label(n), of_label);
    const FuncRef of = stages.of_gradient(n);
    const Expr power = exp_of_difference(cast<float>(op.logits(c, n)) - of[0], op.target);
    stages.gradient = Func("gradient_of_row");
    stages.gradient(c, n) = cast(op.type, select(c == of[2], of[3], power * of[1]));
    return stages;
}

SoftmaxCrossEntropy softmax_of_powers(const SoftmaxCrossEntropyOperands &op, int lanes) {
    SoftmaxCrossEntropy stages;
    Form form = {lanes, 0, false};
    form.logit = [&](const Expr &column) {
        return loaded_if(likely(column < op.classes),
                         stages.logit(unsafe_promise_clamped(column, 0, op.classes - 1), n));
    };
    form.power = [&](const Expr &column) { return stages.power(column, n); };
    find_best(stages, op, form);
    const Expr logit = select(likely(c < op.classes), cast<float>(form.logit(c)), -kInfinity);
    stages.power = Func("power");
    stages.power(c, n) = exponential(logit - stages.best(n));
    add_powers(stages, op, form);
    find_loss(stages, op);
    stages.gradient = Func("gradient_of_row");
    stages.gradient(c, n) = cast(op.type, stages.power(c, n) * stages.factor(n) -
                                              select(c == stages.label(n), op.scale, 0.f));
    return stages;
}

}  // namespace hk::generators
