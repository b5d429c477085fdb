#pragma once
// Lets that are around an expression, by their names, which are unique.

#include <map>
#include <string>

#include "Halide.h"

namespace hk::compiler {

using Lets = std::map<std::string, Halide::Expr>;

// With their values in place of their names, and so on in the values.
Halide::Expr with_values(const Halide::Expr &expr, const Lets &lets);

}  // namespace hk::compiler
