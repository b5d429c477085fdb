#pragma once
// Operands on which instructions go wrong: edges of their types, halfway cases of rounding, numbers
// that cancel, and random ones.

#include <cstddef>
#include <string_view>
#include <vector>

#include "tests/software_cuda/ptx_reference.h"

namespace software_cuda::tests {

// For operands of these types, as instructions.def names them; "none" of one that there is not. The
// same in each run.
std::vector<Operands> operand_values(std::string_view a, std::string_view b, std::string_view c);

}  // namespace software_cuda::tests
