#pragma once
// Schedules of the algorithm in generators/conv2d_backward_bias.h.

#include "generators/conv2d_backward_bias.h"
#include "schedules/partial_sums.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dBackwardBiasContext : Conv2dSizes {};

PartialSums backward_bias_sums(const Conv2dBackwardBiasContext &context);

const Table<generators::Conv2dBackwardBias, Conv2dBackwardBiasContext>
    &conv2d_backward_bias_schedules();

namespace cpu {
void backward_bias(generators::Conv2dBackwardBias &stages,
                   const Conv2dBackwardBiasContext &context);
}  // namespace cpu

namespace gpu {
void backward_bias_unstaged(generators::Conv2dBackwardBias &stages,
                            const Conv2dBackwardBiasContext &context);
}  // namespace gpu

}  // namespace hk::schedules
