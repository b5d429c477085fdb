#pragma once
// Schedules of the algorithm in generators/conv2d/conv2d_filter.h.

#include "generators/conv2d/conv2d_filter.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dFilterContext : Conv2dSizes {};

namespace cpu {
void conv2d_filter(generators::Conv2dFilter &stages, const Conv2dFilterContext &context);
}  // namespace cpu

// By the names of the table.
inline const Table<generators::Conv2dFilter, Conv2dFilterContext> conv2d_filter_schedules = {
    {"along_rows", cpu::conv2d_filter}};

}  // namespace hk::schedules
