#pragma once
// Vectors of eight elements of 16 bits in CUDA kernels, dense and aligned, are loaded and stored as
// four words: of shared memory, and of buffers that begin at multiples of 16 bytes.
//
// LLVM 21 has no longer vectors of 16 bits than four elements, and makes two accesses of eight; of
// words it makes one of 16 bytes. In kernels of tensor cores, and in copies in stages, vectors of
// four f32 are words, too: so are the copies that compiler/swizzle.h moves. Vectors of four
// elements of 16 bits are two words in those copies, of buffers that begin at multiples of 8 bytes.
// What is only copied, or chosen by one condition for all lanes, stays words. So does, in copies in
// stages, a vector of which the first lanes are taken, the others zero: it is kFirstBytes(words,
// how many), for compiler/async_copies.h.

#include "Halide.h"

namespace hk::compiler {

constexpr const char *kFirstBytes = "hk_first_bytes";

Halide::Internal::Stmt widen_vectors(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
