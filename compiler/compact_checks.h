#pragma once
// Halide checks each buffer of a kernel by some thirty comparisons, each with the code of its
// message: more code than most kernels' own, and a quarter of a second of LLVM's time. Here they
// become two calls a buffer of functions in the library (runtime/src/buffer_checks.h), which tell
// the same by the same messages. What depends on the kernel's arguments in other ways stays.
//
// Also gone are checks of queries for bounds, which kernels don't answer (no_bounds_query).

#include "Halide.h"

namespace hk::compiler {

Halide::Module compact_checks(const Halide::Module &module);

}  // namespace hk::compiler
