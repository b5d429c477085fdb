#pragma once
// The transposition of a tile of elements, which compiler/transposed_blocks.h makes shuffles of.

#include <vector>

#include "generators/letters.h"

namespace hk::generators {

// rows(element, row, rest…) of `size` rows, a power of two. The result is both steps, rows and what
// lies across: element e of its row 0 is rows(e / size, e % size).
std::vector<Halide::Func> transpose(const Halide::Func &rows, int size,
                                    const std::vector<Halide::Var> &rest);

}  // namespace hk::generators
