#pragma once
// Tables of kernels of conv2d's gradients that only note what they were called with.

#include <string>
#include <vector>

#include "HalideRuntime.h"
#include "hk/conv2d_backward.h"

namespace hk::tests {

struct BackwardBuffer {
    const halide_buffer_t *buffer = nullptr;  // to tell two arguments apart, not to read
    const uint8_t *host = nullptr;
    std::vector<int32_t> extents, strides;
};

// The arguments of a kernel. `factor`: the weight, or the input.
struct BackwardCall {
    std::string kernel;
    BackwardBuffer output_gradient, factor, previous, gradient;
    int32_t stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0, padding_left = 0,
            padding_top = 0, common_x = 0, common_y = 0, inverse_x = 0, inverse_y = 0;
    bool accumulate = false;
};

extern std::vector<BackwardCall> backward_calls;  // all so far

}  // namespace hk::tests
