#pragma once
// The arguments of a convolution, and whether they can be right.

#include "hk/conv2d.h"

namespace hk::detail {

struct Conv2dTensors {
    const Tensor &input, &weight, &bias, &residual, &output;
};

// Throws InvalidArgument for anything that is wrong with the arguments, but for what only a kernel
// can't take.
Conv2dProblem check_conv2d(const Conv2dTensors &tensors, const Conv2dOptions &options);

// An activation as kernels take it: smooth 0 is min(max(v < 0 ? slope * v : v, low), high), 1 silu,
// 2 gelu.
struct ActivationArguments {
    float slope, low, high;
    int32_t smooth;
};

ActivationArguments activation_arguments(const Conv2dOptions &options);

// "conv2d nhwc f32, input [1, 56, 56, 64], weight [64, 3, 3, 64], stride [1, 1], …"
std::string to_string(const Conv2dProblem &problem);

}  // namespace hk::detail
