#pragma once
// Schedules of what packs the filters of generators/quantized_conv2d.

#include "generators/quantized_conv2d/quantized_conv2d_filter.h"
#include "schedules/convolution_sizes.h"
#include "schedules/schedule.h"

namespace hk::schedules {

namespace cpu {
void quantized_conv2d_filter(generators::QuantizedConv2dFilter &stages, const Conv2dSizes &context);
}  // namespace cpu

// By the names of the table.
inline const Table<generators::QuantizedConv2dFilter, Conv2dSizes>
    quantized_conv2d_filter_schedules = {{"along_rows", cpu::quantized_conv2d_filter}};

}  // namespace hk::schedules
