#pragma once
// What schedules of all families that convolve are given.

#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dSizes : Context {
    bool nhwc = true;
    // Sizes that the kernel is compiled for; 0: any.
    int kernel_w = 0, kernel_h = 0, stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0,
        channels_per_group = 0, filters_per_group = 0;
    int width = 0;  // of the input
};

}  // namespace hk::schedules
