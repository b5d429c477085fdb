#pragma once
// A store under a mask whose places are clamped, for the bounds of what is written, although the
// mask leaves out all that the clamp would move: without it the elements lie next to each other,
// and are a vector instead of a scatter. Halide does not vectorise such a store with a promise in
// place of the clamp.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt unclamp_masked_stores(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
