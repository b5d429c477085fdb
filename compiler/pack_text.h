#pragma once
// Packs the text of an OpenCL program; runtime/src/packed_text.h has the format and undoes it.
// Programs shrink to a third.

#include <string>

namespace hk::compiler {

std::string pack_text(const std::string &text);

}  // namespace hk::compiler
