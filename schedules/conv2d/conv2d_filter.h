#pragma once
// Schedules of the algorithm in generators/conv2d/conv2d_filter.h.

#include "generators/conv2d/conv2d_filter.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

namespace cpu {
void conv2d_filter(generators::Conv2dFilter &stages, const Conv2dSizes &context);
}  // namespace cpu

// By the names of the table.
inline const Table<generators::Conv2dFilter, Conv2dSizes> conv2d_filter_schedules = {
    {"along_rows", cpu::conv2d_filter}};

}  // namespace hk::schedules
