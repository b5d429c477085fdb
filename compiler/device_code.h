#pragma once
// The code of kernels in a module, which is a buffer of it: text, until tools made something else
// of it.

#include <functional>
#include <string>

#include "Halide.h"

namespace hk::compiler {

enum class DeviceCode : uint8_t { ptx, opencl };

// The module with what `replace` makes of its texts; the host's code has their sizes. A text that
// is to stay one ends with a zero byte, as it came.
Halide::Module replace_device_code(
    const Halide::Module &module,
    const std::function<std::string(DeviceCode, const std::string &text)> &replace);

}  // namespace hk::compiler
