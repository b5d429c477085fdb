#pragma once
// Schedules of the algorithm in generators/activation/activate_backward.h.

#include "generators/activation/activate_backward.h"
#include "schedules/elementwise.h"

namespace hk::schedules {

const Table<generators::ActivateBackward, ElementwiseContext> &activate_backward_schedules();

namespace cpu {
void activate_backward(generators::ActivateBackward &stages, const ElementwiseContext &context);
}  // namespace cpu

namespace gpu {
void activate_backward(generators::ActivateBackward &stages, const ElementwiseContext &context);
}  // namespace gpu

}  // namespace hk::schedules
