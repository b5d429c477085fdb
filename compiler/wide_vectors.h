#pragma once
// Vectors of eight elements of 16 bits in CUDA kernels, dense and aligned, are loaded and stored as
// four words: of shared memory, and of buffers that begin at multiples of 16 bytes.
//
// LLVM 21 has no longer vectors of 16 bits than four elements, and makes two accesses of eight; of
// words it makes one of 16 bytes. In kernels of tensor cores vectors of four f32 are words, too: so
// are the copies that compiler/swizzle.h moves. What is only copied, or chosen by one condition for
// all lanes, stays words.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt widen_vectors(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
