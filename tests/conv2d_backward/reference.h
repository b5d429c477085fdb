#pragma once
// The definitions of conv2d's gradients evaluated in double, one term after the other.

#include "tests/conv2d/reference.h"

namespace hk::reference {

// `output_gradient` in the order n, y, x, k, `input` n, y, x, c, `weight` r, s, c, k
// (read_filters). The gradient of the input comes in the order n, y, x, c, of the weight r, s, c,
// k; rows are the input's pixels, or r, s, c.
Conv2dResult conv2d_backward_data(const Conv2dProblem &problem,
                                  const std::vector<double> &output_gradient,
                                  const std::vector<double> &weight, const Rows &rows = {});
Conv2dResult conv2d_backward_weight(const Conv2dProblem &problem,
                                    const std::vector<double> &output_gradient,
                                    const std::vector<double> &input, const Rows &rows = {});
Conv2dResult conv2d_backward_bias(const Conv2dProblem &problem,
                                  const std::vector<double> &output_gradient);

// The convolution of strides of 1 that the input's gradient is, of the output's gradient, and the
// sum of the magnitudes of each of its filters: for what tests/conv2d/reference.h says of
// Winograd's.
Conv2dProblem convolution_of_gradient(const Conv2dProblem &problem);
std::vector<double> magnitudes_of_channels(const Conv2dProblem &problem,
                                           const std::vector<double> &weight);

// Adds beta times what was there before.
void accumulate(Conv2dResult &result, const std::vector<double> &previous, double beta);

}  // namespace hk::reference
