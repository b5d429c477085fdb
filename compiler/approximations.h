#pragma once
// Of CUDA kernels of tensor cores, which finish thousands of results after few products, exp is the
// instruction ex2.approx, of x * log2(e): its relative error is 2^-22 and |x| * 2^-24, where exp's
// own is two units of f32. fast_inverse() is rcp.approx in all kernels, which is off by a unit.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt approximate_by_instruction(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
