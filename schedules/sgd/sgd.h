#pragma once
// Schedules of the algorithms in generators/sgd/sgd.h.

#include "generators/sgd/sgd.h"
#include "schedules/elementwise.h"

namespace hk::schedules {

namespace cpu {
void sgd(generators::Sgd &stages, const ElementwiseContext &context);
}  // namespace cpu

namespace gpu {
void sgd(generators::Sgd &stages, const ElementwiseContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Sgd, ElementwiseContext> sgd_schedules = {
    {"chunks", cpu::sgd}, {"thread_per_element", gpu::sgd}, {"thread_per_vector", gpu::sgd}};

}  // namespace hk::schedules
