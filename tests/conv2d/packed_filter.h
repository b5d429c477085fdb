#pragma once
// The definitions of generators/conv2d/conv2d_filter.h and winograd.h, element by element.

#include "Halide.h"
#include "hk/conv2d.h"

namespace hk::test {

// Of a weight in row-major order of the problem's layout.
Halide::Buffer<float> packed_filter(const Conv2dProblem &problem,
                                    const std::vector<double> &weight);

// U, and how far off it may be: ten roundings of its terms' magnitudes.
struct WinogradFilter {
    Halide::Buffer<float> value, bound;
};
WinogradFilter winograd_filter(const Conv2dProblem &problem, const std::vector<double> &weight);

}  // namespace hk::test
