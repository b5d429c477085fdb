#pragma once
// Packs device code: an OpenCL program shrinks to a fifth, a fatbin to half of what NVIDIA's tool
// makes of it. runtime/src/packed.h has the format and undoes it.

#include <string>
#include <string_view>

namespace hk::compiler {

std::string pack(std::string_view code);

}  // namespace hk::compiler
