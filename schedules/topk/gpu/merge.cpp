#include "schedules/gpu_elements.h"
#include "schedules/topk/topk_merge.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// A thread finds one item, 128 of them a block, whatever list they are of: the search is in
// registers, and what neighbours look at lies in the same cache lines. Merging n items reads
// log2(n) times as many; lost: a block that searches once and merges a piece in shared memory,
// which reads each item once, and does nothing for the short lists that most calls merge.
void topk_merge(TopKMerge &stages, const Context &context) {
    const Func merged = stages.merged;
    element_a_thread(merged, {stages.place, stages.list, stages.x, stages.y},
                     threads_of(Knobs(context.knobs)));
    stages.ahead.compute_at(merged, stages.place).store_in(MemoryType::Register);
}

}  // namespace hk::schedules::gpu
