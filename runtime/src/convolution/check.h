#pragma once
// The arguments of a convolution, and whether they can be right. Messages begin with the operation.

#include "activation_arguments.h"
#include "hk/conv2d.h"
#include "operand_check.h"

namespace hk::detail {

struct Conv2dTensors {
    const Tensor &input, &weight, &bias, &residual;
    Output output;  // or in place of the residual
};

// Throws InvalidArgument for anything that is wrong with the arguments, but for what only a kernel
// can't take.
Conv2dProblem check_conv2d(const Conv2dTensors &tensors, const Conv2dOptions &options);

// Parts of that, for operations like conv2d. Each throws InvalidArgument.

// Outputs along an axis that a kernel computes at once, at most.
inline constexpr int64_t kMostTile = 128;

// A convolution from its shapes and options; any type. All families that convolve or pool check
// their geometry here.
Conv2dProblem conv2d_geometry(const char *operation, const Shape &input, const Shape &weight,
                              DataType type, const Conv2dOptions &options);

// Input, weight and output are there, and all on one device.
void check_present(const char *operation, const Conv2dTensors &tensors);

// Shapes and strides are those that the problem has, and the output overlaps nothing that does not
// let go.
void check_views(const char *operation, const Conv2dProblem &problem, const Conv2dTensors &tensors);

inline ActivationOptions activation_options(const Conv2dOptions &options) {
    return {options.activation, options.alpha, options.beta};
}

// "conv2d nhwc f32, input [1, 56, 56, 64], weight [64, 3, 3, 64], stride [1, 1], …"
std::string to_string(const Conv2dProblem &problem, const char *operation = "conv2d");

}  // namespace hk::detail
