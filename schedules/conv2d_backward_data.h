#pragma once
// Schedules of the algorithms in generators/conv2d_backward_data.h.

#include "generators/conv2d_backward_data.h"
#include "schedules/conv2d_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dBackwardDataContext : Conv2dSizes {
    Halide::Expr phases_x, phases_y;  // the strides: numbers, or arguments of the kernel
    Halide::Expr dense_columns;       // an argument, where columns are innermost
};

const Table<generators::Conv2dBackwardData, Conv2dBackwardDataContext>
    &conv2d_backward_data_schedules();

namespace cpu {
void backward_data(generators::Conv2dBackwardData &stages,
                   const Conv2dBackwardDataContext &context);
}  // namespace cpu

namespace gpu {
void backward_data_unstaged(generators::Conv2dBackwardData &stages,
                            const Conv2dBackwardDataContext &context);
}  // namespace gpu

}  // namespace hk::schedules
