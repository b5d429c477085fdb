#pragma once
// Schedules of the algorithm in generators/activation/activate_backward.h.

#include "generators/activation/activate_backward.h"
#include "schedules/elementwise.h"

namespace hk::schedules {

namespace cpu {
void activate_backward(generators::ActivateBackward &stages, const ElementwiseContext &context);
}  // namespace cpu

namespace gpu {
void activate_backward(generators::ActivateBackward &stages, const ElementwiseContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::ActivateBackward, ElementwiseContext> activate_backward_schedules = {
    {"chunks", cpu::activate_backward},
    {"thread_per_element", gpu::activate_backward},
    {"thread_per_vector", gpu::activate_backward}};

}  // namespace hk::schedules
