#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// Row by row, each read from memory once: for its maximum; the sum and the gradient find it in
// cache. A task is so many rows that they have 8192 elements. In place an element is stored once,
// hence GuardWithIf, after all that the row is read for
// (generators/softmax_cross_entropy/softmax_cross_entropy.h).
void softmax_cross_entropy_vector_per_row(SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const int lanes = softmax_cross_entropy_lanes(context);
    const Var task("task");
    const Expr rows = max(8192 / max(context.classes, 1), 1);
    for (Func out : {stages.gradient, stages.loss}) {
        out.compute_root().split(n, task, n, rows, guard).parallel(task).never_partition(task, n);
    }
    stages.gradient.vectorize(c, lanes, guard);
    stages.loss.compute_with(stages.gradient, n);
    for (Func of_row : {stages.lane_best, stages.best, stages.lane_sum, stages.sum, stages.label,
                        stages.at_label, stages.factor}) {
        of_row.compute_at(stages.gradient, n).bound_extent(n, 1);
    }
    for (auto [of_lane, steps] : {std::pair{stages.lane_best, stages.r},
                                  {stages.block_sum, stages.in_block},
                                  {stages.lane_sum, stages.blocks}}) {
        of_lane.vectorize(stages.lane).update().reorder(stages.lane, steps).vectorize(stages.lane);
    }
    stages.lane_best.update().always_partition(stages.r);
    stages.block_sum.update().always_partition(stages.in_block);
    stages.block_sum.compute_at(stages.lane_sum, stages.blocks).bound_extent(n, 1);
}

}  // namespace hk::schedules::cpu
