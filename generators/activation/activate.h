#pragma once
// output(x, y, z) = f(input(x, y, z)), f as generators/activation.h has it.

#include "generators/elementwise.h"

namespace hk::generators {

struct Activate {
    Halide::Func output;
};

// The arguments of generators/activation.h.
struct ActivationArguments {
    Halide::Expr slope, low, high, smooth;
    Halide::Target target;
};

Activate activate(Halide::Func input, const Halide::Type &type, const ActivationArguments &f);

}  // namespace hk::generators
