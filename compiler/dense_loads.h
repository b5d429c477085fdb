#pragma once
// Every n-th element of n vectors that start one element apart, interleaved, is what lies there in
// memory: one load instead of n loads, n selections and an interleaving. Halide makes this of
// concat_bits over a Func of bytes; LLVM does not see through it, and the loads, which begin inside
// what was just stored, wait for the stores to reach the cache.
//
// Every n-th element of an aligned block of a kernel's own buffer, spread over a vector, is a
// shuffle of the whole block: one load for all n such vectors. Halide makes this of a vector over
// groups and their channels; LLVM would load the elements one by one.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt make_loads_dense(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
