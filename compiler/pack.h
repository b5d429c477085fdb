#pragma once
// Packs device code: a fatbin has at most three fifths of what NVIDIA's tool makes of it
// (tests/compiler/embed_device_code_test.cpp). runtime/src/packed.h has the format and undoes it.

#include <string>
#include <string_view>

namespace hk::compiler {

std::string pack(std::string_view code);

}  // namespace hk::compiler
