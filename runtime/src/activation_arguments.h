#pragma once
// An activation's options, and what kernels make of them.

#include "hk/activation.h"
#include "kernel_arguments.h"

namespace hk::detail {

// Throws InvalidArgument where the activation does not exist or can't have these numbers.
void check_activation(const char *operation, const ActivationOptions &options);

// An activation as kernels take it: smooth 0 is min(max(v < 0 ? slope * v : v, low), high), 1 silu,
// 2 gelu. low <= high.
struct ActivationArguments {
    float slope, low, high;
    int32_t smooth;

    std::array<NamedArgument, 4> named() const {
        return {{{"slope", slope}, {"low", low}, {"high", high}, {"smooth", smooth}}};
    }
};

ActivationArguments activation_arguments(const ActivationOptions &options);

}  // namespace hk::detail
