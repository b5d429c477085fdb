#pragma once
// Registers have no index: a loop that is not unrolled and stores in another register each turn
// would have them in local memory. It is to find the same ones in all its turns: after each they
// turn, the next turn's come to the first's places, and after the last all are where they were.
// A turn has as many moves as there are registers, and the code is once in the kernel.
//
// The alternative, a choice among all of what is loaded and stored, is twice as many instructions.

#include <string>

#include "Halide.h"

namespace hk::compiler {

// What is in the name of a loop that does so with a thread's own allocation, which LLVM would
// unroll.
inline const std::string kTurns = ".turns";

// Of a thread's own registers, at indices of loops' names alone.
Halide::Internal::Stmt turn_registers(const std::string &name, const Halide::Internal::Stmt &body);

}  // namespace hk::compiler
