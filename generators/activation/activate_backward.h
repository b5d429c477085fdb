#pragma once
// input_gradient(x, y, z) = output_gradient(x, y, z) * f'(saved(x, y, z)), f as
// generators/activation.h has it, of smooth 0:
//
//   saved <= low or saved >= high ? 0 : saved > 0 ? output_gradient : slope * output_gradient
//
// `saved` is what f was applied to; of smooth 0 what f made of it is as good, where slope >= 0. A
// bound that is not there is NaN: an infinity would be a value's own bound.

#include "generators/activation/activate.h"

namespace hk::generators {

struct ActivateBackward {
    Halide::Func output;
};

ActivateBackward activate_backward(Halide::Func output_gradient, Halide::Func saved,
                                   const Halide::Type &type, const ActivationArguments &f);

}  // namespace hk::generators
