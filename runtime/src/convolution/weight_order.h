#pragma once
// A convolution's geometry from a weight of the caller's, who may have it in another order.

#include "hk/conv2d.h"

namespace hk::detail {

// conv2d_geometry (convolution/check.h). Where the weight does not fit, but would with its dimensions in
// an order that other libraries have, the message says in which, and how to turn it round.
Conv2dProblem conv2d_geometry_of_weight(const char *operation, const Shape &input,
                                        const Shape &weight, DataType type,
                                        const Conv2dOptions &options);

}  // namespace hk::detail
