#pragma once
// Schedules of the algorithms in generators/conv2d_backward/conv2d_backward_data.h.

#include "generators/conv2d_backward/conv2d_backward_data.h"
#include "schedules/conv2d/conv2d.h"

namespace hk::schedules {

struct Conv2dBackwardDataContext : Conv2dSizes {
    Halide::Expr phases_x = {}, phases_y = {};  // the strides: numbers, or arguments of the kernel
    Halide::Expr dense_columns = {};            // an argument, where columns are innermost
    Halide::Expr plain = {};                    // an argument: nothing is accumulated
    Halide::Expr dense_filter = {};             // an argument: filters lie without gaps (nchw)
    bool f32 = false;                           // the type of the images
};

// Whether vectors of columns are read by masks; else rows are copied.
bool masks_columns(const Conv2dBackwardDataContext &context);

namespace cpu {
void backward_data_buffered_phases(generators::Conv2dBackwardData &stages,
                                   const Conv2dBackwardDataContext &context);
void backward_data_unrolled_phases(generators::Conv2dBackwardData &stages,
                                   const Conv2dBackwardDataContext &context);
void backward_data_phase_columns(generators::Conv2dBackwardData &stages,
                                 const Conv2dBackwardDataContext &context);
// Whether its rows are copied, and how many channels of a group it takes at once.
bool copies_phase_columns(const Conv2dBackwardDataContext &context);
int channels_of_phase_columns(const Conv2dBackwardDataContext &context);
}  // namespace cpu

namespace gpu {
void backward_data_thread_per_element(generators::Conv2dBackwardData &stages,
                                      const Conv2dBackwardDataContext &context);
void backward_data_tile_of_phases(generators::Conv2dBackwardData &stages,
                                  const Conv2dBackwardDataContext &context);
void backward_data_staged(generators::Conv2dSliced &stages, const Conv2dContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Conv2dBackwardData, Conv2dBackwardDataContext>
    conv2d_backward_data_schedules = {{"buffered_phases", cpu::backward_data_buffered_phases},
                                      {"unrolled_phases", cpu::backward_data_unrolled_phases},
                                      {"phase_columns", cpu::backward_data_phase_columns},
                                      {"thread_per_element", gpu::backward_data_thread_per_element},
                                      {"tile_of_phases", gpu::backward_data_tile_of_phases}};
// Those of the algorithms by slices, in the context of the convolution that the gradient is.
inline const Table<generators::Conv2dSliced, Conv2dContext> conv2d_backward_data_sliced_schedules =
    {{"staged", gpu::backward_data_staged}};

}  // namespace hk::schedules
