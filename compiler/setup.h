#pragma once
// What a program does before it compiles kernels with Halide.

namespace hk::compiler {

// Halide's errors become exceptions, Halide::CompileError, its warnings go to stderr, and LLVM gets
// the options that kernels are compiled with. Once, before Halide compiles anything.
void set_up_halide();

}  // namespace hk::compiler
