#pragma once
// Schedules of the algorithm in generators/topk/topk_merge.h.

#include "generators/topk/topk_merge.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct TopKMergeContext {
    Halide::Target target;
    std::string schedule, knobs;
};

const Table<generators::TopKMerge, TopKMergeContext> &topk_merge_schedules();

namespace gpu {
void topk_merge(generators::TopKMerge &stages, const TopKMergeContext &context);
}  // namespace gpu

}  // namespace hk::schedules
