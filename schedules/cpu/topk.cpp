#include "schedules/topk.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto round_up = TailStrategy::RoundUp;
const Var c("c"), j("j"), lane("lane"), row("row");

// A stage of one row. Else Halide takes its rows for what C++ says at run time.
Func one_row(Func stage) { return stage.bound_extent(x, 1).bound_extent(y, 1); }

void best_of_chunks(TopKChunks &chunks, int lanes) {
    chunks.best.align_bounds(c, lanes).vectorize(c, lanes, round_up);
    chunks.best.update().atomic().vectorize(chunks.r_best);
    for (const int vectors : {1, 2, 4})
        chunks.best.update().specialize(chunks.size == vectors * lanes);
    one_row(chunks.lane_best).compute_at(chunks.best, c).bound_extent(lane, lanes).vectorize(lane);
    chunks.lane_best.update().vectorize(lane).never_partition(chunks.r_lane);
}

}  // namespace

void topk(TopK &stages, const TopKContext &context) {
    const int lanes = topk_lanes(context);
    TopKChunks &chunks = stages.chunks;
    Func result = stages.result;
    result.compute_root().fuse(x, y, row).parallel(row);
    const auto in_row = [&](Func stage) { return one_row(stage).compute_at(result, row); };

    in_row(stages.sorted);
    in_row(stages.candidates).vectorize(j, lanes, round_up);
    in_row(stages.chosen);
    if (chunks.best.defined()) {
        in_row(chunks.best);
        best_of_chunks(chunks, lanes);
    } else {
        stages.candidates.specialize(context.adjacent);
    }
    for (Masks *masks : {&chunks.masks, &stages.masks}) {
        if (!masks->bits.defined()) continue;
        masks->weight.compute_root();
        in_row(masks->bits).update().atomic().vectorize(masks->r);
    }
    KthLargest &threshold = stages.threshold;
    for (size_t bit = 0; bit < threshold.known.size(); bit++) {
        in_row(threshold.known[bit]);
        in_row(threshold.total[bit]).update().atomic().vectorize(threshold.r_lane);
        in_row(threshold.partial[bit]).vectorize(lane, lanes).update().vectorize(lane, lanes);
    }
}

}  // namespace hk::schedules::cpu
