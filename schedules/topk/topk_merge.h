#pragma once
// Schedules of the algorithm in generators/topk/topk_merge.h.

#include "generators/topk/topk_merge.h"
#include "schedules/schedule.h"

namespace hk::schedules {

namespace gpu {
void topk_merge(generators::TopKMerge &stages, const Context &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::TopKMerge, Context> topk_merge_schedules = {
    {"thread_per_item", gpu::topk_merge}};

}  // namespace hk::schedules
