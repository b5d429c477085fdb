#include "schedules/topk/topk.h"

using namespace hk::generators;

namespace hk::schedules {

// The baseline: every stage by itself.
void topk_root(TopK &stages, const TopKContext &context) {
    Knobs(context.knobs).end();
    const TopKChunks &chunks = stages.chunks;
    for (Halide::Func stage :
         {stages.columns.running, stages.columns.best, stages.columns.masks.bits, chunks.lane_best,
          chunks.lane_rest, chunks.rank, chunks.best, chunks.masks.bits, stages.least,
          stages.chosen, stages.candidates, stages.masks.bits, stages.sorted})
        if (stage.defined()) stage.compute_root();
    const KthLargest &threshold = stages.threshold;
    for (auto *funcs : {&threshold.partial, &threshold.total, &threshold.known})
        for (Halide::Func stage : *funcs) stage.compute_root();
}

int topk_lanes(const TopKContext &context) {
    return context.target.natural_vector_size(context.type);
}

}  // namespace hk::schedules
