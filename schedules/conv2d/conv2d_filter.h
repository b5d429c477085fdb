#pragma once
// Schedules of what packs the filters of generators/conv2d.

#include "generators/conv2d/winograd.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

// Where a weight's elements lie: in which layout, and whether its filters are nearer to each other
// than its input channels.
struct FilterMemory {
    bool nhwc, filters_inner;
};

namespace cpu {
// Of a row that transforms its filter, too. The caller says what is parallel.
void transform_filter(generators::Conv2dWinogradFilter &stages, const FilterMemory &memory,
                      int lanes);
void conv2d_filter(generators::Conv2dFilter &stages, const Conv2dSizes &context);
void conv2d_winograd_filter(generators::Conv2dWinogradFilter &stages, const Conv2dSizes &context);
}  // namespace cpu

// By the names of the table.
inline const Table<generators::Conv2dFilter, Conv2dSizes> conv2d_filter_schedules = {
    {"along_rows", cpu::conv2d_filter}};
inline const Table<generators::Conv2dWinogradFilter, Conv2dSizes> conv2d_winograd_filter_schedules =
    {{"along_rows", cpu::conv2d_winograd_filter}};

}  // namespace hk::schedules
