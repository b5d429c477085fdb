#pragma once
// Results element by element against what they should be, in double.

#include <functional>

#include "family.h"

namespace hk::bench {

// Of a tensor of floats in host memory, where `expected` says what the i-th element should be and
// `allowed` how far from that it may be.
Check check_elements(const Tensor &result, const std::function<double(size_t)> &expected,
                     const std::function<double(double value)> &allowed);

// Largest error of one rounding of a value of the order of 1: 2^-24, 2^-11 (f16) or 2^-8 (bf16).
double rounding(DataType type);

}  // namespace hk::bench
