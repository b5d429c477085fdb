#pragma once
// What all threads of a block choose alike is a branch in device code where a choice costs more than a branch: an
// activation's exponential is not evaluated for outputs that don't have it. Halide's select() evaluates both.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt branch_where_uniform(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
