#pragma once
// Strided 1x1 filters, of nchw: what they meet of an image.

#include <optional>

#include "hk/conv2d.h"
#include "hk/tensor.h"

namespace hk::detail {

// The problem of a gradient in which the input is only what the filter meets; none: it is no such
// filter.
std::optional<Conv2dProblem> of_met_pixels(Conv2dProblem problem);

// These pixels of an image whose output is given.
Tensor met_pixels(const Tensor &image, const Tensor &output, const Conv2dOptions &options);

// The options of a convolution of them.
Conv2dOptions with_stride_1(Conv2dOptions options);

}  // namespace hk::detail
