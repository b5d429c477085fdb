#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"
#include "generators/ceil_div.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf, mask = TailStrategy::Predicate;

// Rows of a task: so many that they have 8192 elements, of all that there are.
Expr rows_of_a_task(const SoftmaxCrossEntropyContext &context) {
    return clamp(8192 / max(context.classes, 1), 1, max(context.rows, 1));
}

// Where a vector of rows is, or a row.
void at_rows(const std::vector<Func> &all, const SoftmaxCrossEntropy &stages, int rows) {
    for (Func of_rows : all) of_rows.compute_at(stages.gradient, n).bound_extent(n, rows);
}

}  // namespace

// Row by row, each read from memory once: for its maximum; its powers find it in cache, and the
// gradient finds these, or where they are not kept makes them again. Lost: what is left over of
// whole steps as an update of its own, under a mask, which a load of the whole vector has to wait
// for; trees over 16 lanes as they are written, of which Halide makes a chain of maxima.
//
// In place an element is stored once, under a mask, after all that the row is read for
// (generators/softmax_cross_entropy/softmax_cross_entropy.h).
void softmax_cross_entropy_vector_per_row(SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &context) {
    const int vector = context.target.natural_vector_size<float>();
    const Var task("task");
    const Expr rows = rows_of_a_task(context);
    for (Func out : {stages.gradient, stages.loss}) {
        out.compute_root().split(n, task, n, rows, guard).parallel(task).never_partition(task, n);
    }
    stages.gradient.vectorize(c, vector, mask);
    stages.loss.compute_with(stages.gradient, n);
    at_rows({stages.lane_best, stages.best, stages.lane_sum, stages.sum, stages.label,
             stages.at_label, stages.factor},
            stages, 1);
    at_rows(stages.halves, stages, 1);
    if (softmax_cross_entropy_tile(context).keep) {
        at_rows({stages.power}, stages, 1);
        stages.power.hoist_storage(stages.gradient, task)
            .vectorize(c, vector, TailStrategy::RoundUp);
    }
    stages.block_sum.compute_at(stages.lane_sum, stages.blocks).bound_extent(n, 1);
    for (Func half : stages.halves) half.vectorize(stages.lane);
    for (auto [of_lane, steps] : {std::pair{stages.lane_best, stages.r},
                                  {stages.block_sum, stages.in_block},
                                  {stages.lane_sum, stages.blocks}}) {
        of_lane.vectorize(stages.lane).update().reorder(stages.lane, steps).vectorize(stages.lane);
    }
}

// Of few classes a vector has one of as many rows, which a tile is gathered and scattered for: no
// lanes to be folded, and none without a class.
void softmax_cross_entropy_vector_of_rows(SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &context) {
    const int vector = context.target.natural_vector_size<float>();
    const Var task("task"), lane("lane");
    const Expr vectors = ceil_div(rows_of_a_task(context), vector);
    for (Func out : {stages.gradient, stages.loss}) {
        out.compute_root()
            .split(n, n, lane, vector, mask)
            .split(n, task, n, vectors, guard)
            .parallel(task)
            .never_partition(task)
            .vectorize(lane);
    }
    stages.gradient.reorder(lane, c, n, task);
    stages.loss.compute_with(stages.gradient, n);
    at_rows({stages.logit, stages.power, stages.lane_best, stages.best, stages.lane_sum, stages.sum,
             stages.label, stages.at_label, stages.factor},
            stages, vector);
    stages.block_sum.compute_at(stages.lane_sum, stages.blocks).bound_extent(n, vector);
    for (Func tile : {stages.logit, stages.power}) {
        tile.hoist_storage(stages.gradient, task)
            .bound_storage(n, vector)
            .reorder(n, c)
            .reorder_storage(n, c)
            .vectorize(n);
    }
    for (Func of_rows : {stages.best, stages.sum, stages.label, stages.at_label, stages.factor})
        of_rows.vectorize(n);
    for (auto [of_rows, steps] : {std::pair{stages.lane_best, stages.r},
                                  {stages.block_sum, stages.in_block},
                                  {stages.lane_sum, stages.blocks}}) {
        of_rows.vectorize(n).update().reorder(n, steps).vectorize(n);
    }
}

}  // namespace hk::schedules::cpu
