#pragma once
// An independent check of softmax cross-entropy and its gradient, in double.

#include "family.h"

namespace hk::bench {

// Of a scale of 1. Either of loss and gradient may be undefined.
Check check_softmax_cross_entropy(const std::vector<float> &logits,
                                  const std::vector<int32_t> &labels, const Tensor &loss,
                                  const Tensor &gradient);

}  // namespace hk::bench
