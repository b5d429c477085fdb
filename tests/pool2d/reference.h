#pragma once
// The definition of pooling and of its gradient evaluated in double, window by window.

#include "hk/pool2d.h"
#include "tests/conv2d/reference.h"

namespace hk::reference {

// Images are in the order n, y, x, c, whatever the layout. Of max a value is its own magnitude, and
// there is one term.
Conv2dResult pool2d(const Pool2dProblem &problem, const std::vector<double> &input);

// Every window adds its gradient to its pixels: to its first maximum, or first NaN, or in equal
// parts to all.
Conv2dResult pool2d_backward(const Pool2dProblem &problem,
                             const std::vector<double> &output_gradient,
                             const std::vector<double> &input);

}  // namespace hk::reference
