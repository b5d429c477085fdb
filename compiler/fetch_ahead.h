#pragma once
// Pipelines of CUDA kernels that stage slices of their operands in shared memory:
//
//     for a slice: copy it to shared memory, barrier, sum over it, barrier
//
// becomes
//
//     load the first slice into registers
//     for a slice: store it to shared memory, barrier, load the next one, sum over this one,
//     barrier
//
// so that loads from global memory are on their way while a thread sums. Loops of copies are
// unrolled, so that all loads of a slice are on their way at once, and a barrier between two copies
// is dropped: the one behind the last orders both. Loops around that do nothing else count as one
// with it (all taps of all slices).

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt fetch_ahead(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
