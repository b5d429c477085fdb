#pragma once
// Halide checks each buffer of a kernel by some thirty comparisons, each with the code of its
// message. Here they become two calls a buffer of functions in the library
// (runtime/src/buffer_checks.h), which tell the same by the same messages. What depends on the
// kernel's arguments in other ways stays.
//
// That is of targets with no_bounds_query, whose checks of queries go too; other modules stay.

#include "Halide.h"

namespace hk::compiler {

Halide::Module compact_checks(const Halide::Module &module);

}  // namespace hk::compiler
