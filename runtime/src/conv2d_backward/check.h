#pragma once
// The arguments of a convolution's gradients, and whether they can be right.

#include "convolution/check.h"
#include "hk/conv2d_backward.h"

namespace hk::detail {

struct Conv2dBackwardTensors {
    const Tensor &output_gradient, &input, &weight;
    struct {
        const Tensor &input, &weight, &bias;
    } gradients;
};

// Throws InvalidArgument, in messages that begin with `operation`, for anything that is wrong with
// what the gradients that are asked for need, but for what only a kernel can't take. The problem is
// the forward convolution; where the bias' gradient alone is asked for, bias_problem().
Conv2dProblem check_conv2d_backward(const char *operation, const Conv2dBackwardTensors &tensors,
                                    const Conv2dOptions &options, float beta);

// What a bias' gradient depends on: a convolution of one channel and tap with this output.
Conv2dProblem bias_problem(const char *operation, const Shape &output, DataType type,
                           Layout layout);

}  // namespace hk::detail
