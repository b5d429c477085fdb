#pragma once
// An index without clamps that a condition makes idle.

#include "compiler/let_values.h"

namespace hk::compiler {

// Of what is read where `condition` holds alone: min(i, n - 1) and max(i, 0) are i where the
// condition says i < n, or uint32(i) < uint32(n), n being no less than 0. `lets` are those that
// both may name.
Halide::Expr unclamped(const Halide::Expr &index, const Halide::Expr &condition, const Lets &lets);

}  // namespace hk::compiler
