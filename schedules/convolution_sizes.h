#pragma once
// What schedules of all families that convolve are given.

#include "schedules/schedule.h"

namespace hk::schedules {

struct Conv2dSizes : Context {
    bool nhwc;
    // Sizes that the kernel is compiled for; 0: any.
    int kernel_w, kernel_h, stride_x, stride_y, dilation_x, dilation_y, channels_per_group,
        filters_per_group;
    int width;  // of the input
};

}  // namespace hk::schedules
