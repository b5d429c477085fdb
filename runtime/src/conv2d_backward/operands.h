#pragma once
// The gradients of a convolution as kernels see them.

#include "convolution/operands.h"

namespace hk::detail {

// Which taps of a filter meet which pixels of the input, in one direction, as
// generators/conv2d_backward/conv2d_backward_data.h takes it.
struct StridePhase {
    StridePhase(int64_t stride, int64_t dilation);

    int32_t common;   // gcd(stride, dilation)
    int32_t inverse;  // of dilation / common modulo stride / common; 0 where that is 1
};

// As normalise() of convolution/operands.h, of a problem whose input or weight and whose output are
// gradients. The input's keeps its stride, for what lies between is zero.
void normalise_backward_data(Conv2dOperands &operands);
void normalise_backward_weight(Conv2dOperands &operands);

// Of a bias_problem().
void normalise_backward_bias(Conv2dOperands &operands);

}  // namespace hk::detail
