#pragma once
// Stages of CUDA kernels whose sums are products of matrices (compiler/tensor_cores.h), or of f32:
//
//     for a slice: copy it to shared memory, barrier, sum over it, barrier
//
// becomes, where the outermost loop's name ends in .stages_N,
//
//     begin the copies of the first N - 1 slices
//     for a slice: wait for its copies, barrier, begin those of the slice N - 1 ahead, sum over
//     this one
//
// with N times the shared memory, and copies that pass no register (cp.async, compute
// capability 8.0). What a condition leaves out is not read: it is zeros, also the last lanes of a
// vector, or a word that is stored. A group of copies is committed for each slice, also past the
// last, so that all but the N - 2 youngest are waited for. The one barrier says both that a slice
// is there and that all threads have summed over the one before, whose place the next copies take.
//
// A slice may be a nest of loops, of which each step has copies, and the outermost loop others that
// all steps read (compiler/outermost_copies.h).

#include <optional>
#include <string>

#include "Halide.h"

namespace hk::compiler {

// N of a loop's name that ends in .stages_N.
std::optional<int> stages_of(const std::string &loop);

Halide::Internal::Stmt copy_asynchronously(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
