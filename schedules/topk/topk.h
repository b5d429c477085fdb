#pragma once
// Schedules of the algorithms in generators/topk/topk.h.

#include "generators/topk/topk.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct TopKContext : Context {
    Halide::Type type;      // of keys
    Halide::Expr adjacent;  // whether elements lie next to each other, where that is not known
    Halide::Expr rows;
};

// Keys of a vector.
int topk_lanes(const TopKContext &context);

namespace cpu {
void topk(generators::TopK &stages, const TopKContext &context);
}  // namespace cpu

void topk_root(generators::TopK &stages, const TopKContext &context);

// By the names of the table.
inline const Table<generators::TopK, TopKContext> topk_schedules = {{"root", topk_root},
                                                                    {"rows_in_cache", cpu::topk}};

}  // namespace hk::schedules
