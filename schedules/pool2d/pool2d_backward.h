#pragma once
// Schedules of the algorithms in generators/pool2d/pool2d_backward.h.

#include "generators/pool2d/pool2d_backward.h"
#include "schedules/pool2d/pool2d.h"

namespace hk::schedules {

namespace cpu {
void pool2d_backward_by_channels(generators::Pool2dBackward &stages, const Pool2dContext &context);
void pool2d_backward_by_phases(generators::Pool2dBackward &stages, const Pool2dContext &context);
void pool2d_backward_by_rows(generators::Pool2dBackward &stages, const Pool2dContext &context);
void pool2d_backward_by_planes(generators::Pool2dBackward &stages, const Pool2dContext &context);
void pool2d_backward_in_blocks(generators::Pool2dBackward &stages, const Pool2dContext &context);
}  // namespace cpu

namespace gpu {
void pool2d_backward_column_per_thread(generators::Pool2dBackward &stages,
                                       const Pool2dContext &context);
void pool2d_backward_tile_per_thread(generators::Pool2dBackward &stages,
                                     const Pool2dContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Pool2dBackward, Pool2dContext> pool2d_backward_schedules = {
    {"by_channels", cpu::pool2d_backward_by_channels},
    {"by_phases", cpu::pool2d_backward_by_phases},
    {"by_rows", cpu::pool2d_backward_by_rows},
    {"by_planes", cpu::pool2d_backward_by_planes},
    {"in_blocks", cpu::pool2d_backward_in_blocks},
    {"column_per_thread", gpu::pool2d_backward_column_per_thread},
    {"tile_per_thread", gpu::pool2d_backward_tile_per_thread}};

}  // namespace hk::schedules
