#pragma once
// The definition of conv2d evaluated in double, one term after the other.

#include <vector>

#include "hk/conv2d.h"

namespace hk::reference {

// Elements in the order n, y, x, k, whatever the layout.
struct Conv2dResult {
    std::vector<double> value;
    std::vector<double> magnitude;  // the sum of the terms' magnitudes, bias and residual included
    int64_t terms = 0;              // of the longest sum
};

// On host tensors with any strides. `bias` and `residual` may be undefined.
Conv2dResult conv2d(const Tensor &input, const Tensor &weight, const Tensor &bias,
                    const Tensor &residual, const Conv2dOptions &options);

double activate(double value, const Conv2dOptions &options);

// A view with dimensions n, y, x, k (or k, r, s, c of a weight), from either layout.
Tensor channels_last(const Tensor &tensor, Layout layout);

}  // namespace hk::reference
