#pragma once
// Schedules of the algorithm in generators/activate.h.

#include "generators/activate.h"
#include "schedules/elementwise.h"

namespace hk::schedules {

const Table<generators::Activate, ElementwiseContext> &activate_schedules();

namespace cpu {
void activate(generators::Activate &stages, const ElementwiseContext &context);
}  // namespace cpu

namespace gpu {
void activate(generators::Activate &stages, const ElementwiseContext &context);
}  // namespace gpu

}  // namespace hk::schedules
