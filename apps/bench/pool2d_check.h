#pragma once
// An independent check of pooling and its gradient, in double, of packed tensors.

#include "family.h"
#include "hk/pool2d.h"

namespace hk::bench {

Check check_pool2d(const Pool2dProblem &problem, const std::vector<float> &input,
                   const Tensor &output);

Check check_pool2d_backward(const Pool2dProblem &problem, const std::vector<float> &output_gradient,
                            const std::vector<float> &input, const Tensor &input_gradient);

}  // namespace hk::bench
