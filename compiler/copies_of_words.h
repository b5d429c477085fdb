#pragma once
// Copies to shared memory that the threads of a CUDA kernel begin, and do not wait for
// (compiler/async_copies.h): of vectors of four words or two, or of words of
// f32.

#include <string>

#include "Halide.h"
#include "compiler/let_values.h"

namespace hk::compiler {

struct CopyContext {
    Halide::Expr place;    // bytes in the memory that the copies are further on
    Lets lets, of_kernel;  // around the copies; of them those inside of the kernel
};
struct Begun {
    Halide::Internal::Stmt copies;
    std::string memory;  // they are to
};

// A call of a function that compiler/instruction_calls.h knows.
Halide::Internal::Stmt call_instruction(const std::string &function,
                                        const std::vector<Halide::Expr> &arguments = {});

// Throws Halide::CompileError where stores of the loop are no such copies, or not to one memory.
Begun begin_copies(const std::string &loop, const Halide::Internal::Stmt &copies,
                   const CopyContext &context);

}  // namespace hk::compiler
