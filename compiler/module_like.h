#pragma once
// A module as another one, but for its functions and buffers, for passes that change those.

#include "Halide.h"

namespace hk::compiler {

Halide::Module module_like(const Halide::Module &module);

}  // namespace hk::compiler
