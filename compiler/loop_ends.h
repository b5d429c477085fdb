#pragma once
// Loops of CUDA kernels over slices that are staged (compiler/async_copies.h), of which a block has
// as many as memory says:
//
//     for i from 0 to n - 1: if (a + i * step < end) copy; barrier; if (…) sum; barrier
//
// becomes a loop to where the condition, which all the statements have, ends. Nothing but barriers
// is behind it.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt end_loops_early(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
