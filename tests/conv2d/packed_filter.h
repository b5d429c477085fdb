#pragma once
// The definition of generators/conv2d/conv2d_filter.h, element by element.

#include "Halide.h"
#include "hk/conv2d.h"

namespace hk::test {

// Of a weight in row-major order of the problem's layout.
Halide::Buffer<float> packed_filter(const Conv2dProblem &problem,
                                    const std::vector<double> &weight);

}  // namespace hk::test
