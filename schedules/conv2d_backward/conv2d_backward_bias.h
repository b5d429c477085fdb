#pragma once
// Schedules of the algorithm in generators/conv2d_backward/conv2d_backward_bias.h.

#include "generators/conv2d_backward/conv2d_backward_bias.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

// How a long sum over pixels is divided: lanes side by side in a row, parts of the rows. It decides
// the order of adding, and so the last bits of the result.
struct PartialSums {
    int lanes, parts;
};
PartialSums backward_bias_sums(const Conv2dSizes &context);

namespace cpu {
void backward_bias_parallel_parts(generators::Conv2dBackwardBias &stages,
                                  const Conv2dSizes &context);
}  // namespace cpu

namespace gpu {
void backward_bias_block_per_part(generators::Conv2dBackwardBias &stages,
                                  const Conv2dSizes &context);
void backward_bias_thread_per_part(generators::Conv2dBackwardBias &stages,
                                   const Conv2dSizes &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Conv2dBackwardBias, Conv2dSizes> conv2d_backward_bias_schedules = {
    {"root", root_of_sizes},
    {"parallel_parts", cpu::backward_bias_parallel_parts},
    {"block_per_part", gpu::backward_bias_block_per_part},
    {"thread_per_part", gpu::backward_bias_thread_per_part}};

}  // namespace hk::schedules
