#pragma once
// A step of stochastic gradient descent in place, of each element:
//
//   g = gradient + weight_decay * parameter
//   velocity = momentum * velocity + g
//   parameter -= learning_rate * (nesterov ? g + momentum * velocity : velocity)
//
// in f32, where the parameter takes the velocity before that is rounded. Both are updates of
// outputs, so that what they were is loaded before either is stored.

#include "generators/elementwise.h"

namespace hk::generators {

struct SgdOperands {
    Halide::Func gradient;
    Halide::Expr learning_rate, momentum, weight_decay, nesterov;
    Halide::Type type;
};

// output: (parameter, velocity); of sgd_plain, where the momentum is 0, the parameter alone.
struct Sgd {
    Halide::Func output;
};
Sgd sgd_momentum(const SgdOperands &operands);
Sgd sgd_plain(const SgdOperands &operands);

}  // namespace hk::generators
