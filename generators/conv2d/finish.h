#pragma once
// What the algorithms of conv2d do before and after their sums.

#include <array>

#include "generators/conv2d/conv2d.h"

namespace hk::generators {

// start(k, g): the bias, zero where there is none and past the last channel.
Halide::Func sum_start(const Conv2dOperands &operands);

// Smooth activations as an update of the sum, where it is kept, so that they are once in a kernel,
// in a loop, and not with each result. The update is over `smooth`, the call's if it has one; the
// sum's residual is at `at`. What is left of the operands is to be finished.
void activate_smoothly(Conv2dOperands &operands, const std::array<Halide::Expr, 5> &at,
                       Halide::Func &sum, Halide::RDom &smooth);

// The same of the residual, and of a linear activation behind it: of its slope, and of its bounds.
void add_residual(Conv2dOperands &operands, const std::array<Halide::Expr, 5> &at,
                  Halide::Func &sum, Halide::RDom &added);
void activate_linearly(Conv2dOperands &operands, Halide::Func &sum, Halide::RDom &sloped,
                       Halide::RDom &bounded);
// Whether there are such.
Halide::Expr has_bounds(const Conv2dOperands &operands);

// A sum with the residual at k, g, x, y, n, activated, in f32.
Halide::Expr finished_sum(const Conv2dOperands &operands, Halide::Expr sum,
                          const std::array<Halide::Expr, 5> &at);

// The same of a sum's Func, in f32 and rounded.
void finish(const Conv2dOperands &operands, const Halide::Func &sum, Halide::Func &activated,
            Halide::Func &output,
            bool by_instruction = false);

}  // namespace hk::generators
