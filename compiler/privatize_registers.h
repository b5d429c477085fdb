#pragma once
// Gives each GPU thread its own slice of a block's Register allocation.
//
// In Halide 21 accumulators that live outside a serial loop which stages tiles in shared memory,
//     block { accumulators in Register; for tile { stage in GPUShared; barrier; threads: FMA } },
// are the whole block's in every thread, indexed by its thread id; a dynamic index puts them into
// local memory (a 64x64 f32 tile of 16x16 threads: 16384 bytes of stack a thread). Every index is
//     f(thread ids) + rest.
// Where f is the same in all accesses a thread touches its own slice only: f is dropped, and the
// elements that are left are numbered densely. Where f differs a thread would read, in its own
// registers, what another thread wrote in his: Halide computes wrong results without a word, this
// pass throws Halide::CompileError("register crosstalk in NAME: ...").
//
// Rejected: letting each schedule write the slice as a dimension of its own, which Halide accepts,
// but needs a copy of the algorithm for every thread shape.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt privatize_registers(const Halide::Internal::Stmt &body);

// A load of a thread's own registers, a vector's one by one: LLVM keeps in pairs what is loaded as
// a vector, and takes them apart for each sum in the loop before.
Halide::Expr registers_one_by_one(const Halide::Internal::Load *op);

}  // namespace hk::compiler
