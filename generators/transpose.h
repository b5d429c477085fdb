#pragma once
// The transposition of a tile of elements by perfect shuffles: log2(size) steps, each of which
// interleaves two vectors of the step before, instead of a gather or scatter of single elements.

#include <vector>

#include "generators/letters.h"

namespace hk::generators {

// rows(element, row, rest…) of `size` rows, a power of two, of any length. The result is the steps:
// the first is `rows`; of the last, element e of row 0 is rows(e / size, e % size). Step n has
// size >> n rows, 2^n times as long.
std::vector<Halide::Func> transpose(const Halide::Func &rows, int size,
                                    const std::vector<Halide::Var> &rest);

}  // namespace hk::generators
