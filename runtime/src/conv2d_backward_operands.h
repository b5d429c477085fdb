#pragma once
// The gradients of a convolution as kernels see them.

#include "conv2d_operands.h"

namespace hk::detail {

// Which taps of a filter meet which pixels of the input, in one direction, as
// generators/conv2d_backward_data.h takes it.
struct StridePhase {
    StridePhase(int64_t stride, int64_t dilation);

    int32_t common;   // gcd(stride, dilation)
    int32_t inverse;  // of dilation / common modulo stride / common; 0 where that is 1
};

}  // namespace hk::detail
