#include "schedules/topk/topk_merge.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every item by itself, nothing stored in between.
void root(TopKMerge &, const TopKMergeContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<TopKMerge, TopKMergeContext> &topk_merge_schedules() {
    static const Table<TopKMerge, TopKMergeContext> table = {{"root", root},
                                                             {"gpu_unstaged", gpu::topk_merge}};
    return table;
}

}  // namespace hk::schedules
