#pragma once
// What a compiled function takes, in its order: hk/kernel_info.h has the same of a row. Halide's
// own description, its metadata, would be 3 KB in each kernel, for names that a family's share.

#include <cstdint>
#include <string>
#include <vector>

#include "Halide.h"

namespace hk::compiler {

struct FunctionArgument {
    std::string name;  // as the generator declares it; of an array, name_0
    int bytes = 0;     // of a number or a pointer; 0: a buffer
    std::vector<int64_t>
        extents;  // of a buffer as the generator estimates them, 0 where it doesn't
};

// `generator` has built the pipeline that `function` of the module is.
std::vector<FunctionArgument> arguments_of(Halide::Internal::AbstractGenerator &generator,
                                           const Halide::Module &module,
                                           const std::string &function);

}  // namespace hk::compiler
