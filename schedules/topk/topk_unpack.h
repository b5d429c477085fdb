#pragma once
// Schedules of the algorithm in generators/topk/topk_unpack.h.

#include "generators/topk/topk_unpack.h"
#include "schedules/schedule.h"

namespace hk::schedules {

namespace gpu {
void topk_unpack(generators::TopKUnpack &stages, const Context &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::TopKUnpack, Context> topk_unpack_schedules = {
    {"thread_per_element", gpu::topk_unpack}};

}  // namespace hk::schedules
