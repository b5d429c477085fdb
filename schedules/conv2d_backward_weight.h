#pragma once
// Schedules of the algorithm in generators/conv2d_backward_weight.h.

#include "generators/conv2d_backward_weight.h"
#include "schedules/partial_sums.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dBackwardWeightContext : Conv2dSizes {};

PartialSums backward_weight_sums(const Conv2dBackwardWeightContext &context);

const Table<generators::Conv2dBackwardWeight, Conv2dBackwardWeightContext>
    &conv2d_backward_weight_schedules();

namespace cpu {
void backward_weight(generators::Conv2dBackwardWeight &stages,
                     const Conv2dBackwardWeightContext &context);
}  // namespace cpu

namespace gpu {
void backward_weight_unstaged(generators::Conv2dBackwardWeight &stages,
                              const Conv2dBackwardWeightContext &context);
}  // namespace gpu

}  // namespace hk::schedules
