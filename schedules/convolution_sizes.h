#pragma once
// What schedules of all families that convolve are given.

#include <string>

#include "Halide.h"

namespace hk::schedules {

struct Conv2dSizes {
    Halide::Target target;
    bool nhwc;
    std::string schedule, knobs;
    // Sizes that the kernel is compiled for; 0: any.
    int kernel_w, kernel_h, stride_x, stride_y, dilation_x, dilation_y, channels_per_group,
        filters_per_group;
    int width;  // of the input
};

}  // namespace hk::schedules
