#pragma once
// Shapes of operations that work element by element.

#include "tests/fuzz/case.h"

namespace hk::fuzz {

Shape draw_shape(Random &random);  // of rank 0 to 5, and at most some thousand elements

}  // namespace hk::fuzz
