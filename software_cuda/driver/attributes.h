// Attributes of devices: their numbers in cuda.h and what a chip answers.
#pragma once

#include <optional>

#include "software_cuda/driver/context.h"

namespace software_cuda {

// Nothing for a number that is none.
std::optional<int> attribute_of(const Device &device, int attribute);

}  // namespace software_cuda
