#pragma once
// Schedules of the algorithm in generators/activation/activate.h.

#include "generators/activation/activate.h"
#include "schedules/elementwise.h"

namespace hk::schedules {

namespace cpu {
void activate(generators::Activate &stages, const ElementwiseContext &context);
}  // namespace cpu

namespace gpu {
void activate(generators::Activate &stages, const ElementwiseContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Activate, ElementwiseContext> activate_schedules = {
    {"chunks", cpu::activate},
    {"thread_per_element", gpu::activate},
    {"thread_per_vector", gpu::activate}};

}  // namespace hk::schedules
