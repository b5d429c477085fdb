#pragma once
// A bound that lets NaN pass, select(v < low, low, v) in strict arithmetic, `low` a constant or an
// argument that is no NaN, is a comparison and a choice. In CUDA kernels of tensor cores, which finish thousands of results after few products, it
// is the one instruction that those GPUs have, max.NaN or min.NaN. Of zeros of both signs it may
// take the other one.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt clamp_by_instruction(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
