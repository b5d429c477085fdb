#pragma once
// An independent check of activations, their gradients and SGD, in double.

#include <array>

#include "family.h"
#include "hk/activation.h"
#include "hk/sgd.h"

namespace hk::bench {

// relu, silu or gelu of `values`, or `gradients` times their derivative there.
Check check_activation(const ActivationOptions &options, bool backward,
                       const std::vector<float> &values, const std::vector<float> &gradients,
                       const Tensor &result);

// `before`: parameter, velocity, gradient.
Check check_sgd(const SgdOptions &options, const std::array<std::vector<float>, 3> &before,
                const Tensor &parameter, const Tensor &velocity);

}  // namespace hk::bench
