#pragma once
// What a program does before it compiles kernels with Halide.

#include "Halide.h"

namespace hk::compiler {

// Halide's errors become exceptions, Halide::CompileError, and its warnings go to stderr. Once,
// before Halide compiles anything.
void set_up_halide();

// What LLVM compiles kernels of a target with, unless HL_LLVM_ARGS is set. It reads this when a
// process compiles first: of a process that compiles for CPUs and for GPUs the first target counts.
void set_llvm_options(const Halide::Target &target);

}  // namespace hk::compiler
