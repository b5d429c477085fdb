#pragma once
// What a command line of the driver asks for, compiled or taken from the cache.

#include "compiler/command_line.h"

namespace hk::compiler {

// All outputs appear in the folder, each at once, or none does. Throws Halide::Error and
// std::runtime_error.
void compile(const CommandLine &line);

}  // namespace hk::compiler
