#pragma once
// Schedules of the algorithms in generators/pool2d/pool2d.h.

#include "generators/pool2d/pool2d.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Pool2dContext : Conv2dSizes {
    Halide::Expr row = {};   // elements of one of the output that lie next to each other
    Halide::Expr rows = {};  // of the output's image
    Halide::Expr stride_x = {};
    Halide::Expr plane = {};     // pixels of an image
    Halide::Expr stride_c = {};  // from one of the output's channels to the next
};

namespace cpu {
void pool2d_by_channels(generators::Pool2d &stages, const Pool2dContext &context);
void pool2d_by_rows(generators::Pool2d &stages, const Pool2dContext &context);
void pool2d_by_planes(generators::Pool2d &stages, const Pool2dContext &context);
void pool2d_in_blocks(generators::Pool2d &stages, const Pool2dContext &context);
}  // namespace cpu

namespace gpu {
void pool2d_thread_per_element(generators::Pool2d &stages, const Pool2dContext &context);
void pool2d_tile_per_thread(generators::Pool2d &stages, const Pool2dContext &context);
void pool2d_block_of_lanes(generators::Pool2d &stages, const Pool2dContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::Pool2d, Pool2dContext> pool2d_schedules = {
    {"by_channels", cpu::pool2d_by_channels},
    {"by_rows", cpu::pool2d_by_rows},
    {"by_planes", cpu::pool2d_by_planes},
    {"in_blocks", cpu::pool2d_in_blocks},
    {"thread_per_element", gpu::pool2d_thread_per_element},
    {"tile_per_thread", gpu::pool2d_tile_per_thread},
    {"block_of_lanes", gpu::pool2d_block_of_lanes}};

}  // namespace hk::schedules
