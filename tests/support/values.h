#pragma once
// Elements of test tensors.

#include <vector>

#include "hk/tensor.h"
#include "tests/support/seed.h"

namespace hk::test {

// As many as the shape has elements: whole numbers in first..last; any in -1..1.
std::vector<double> whole_numbers(Random &random, const Shape &shape, int64_t first, int64_t last);
std::vector<double> reals(Random &random, const Shape &shape);

// A packed tensor on the host.
Tensor host_tensor(const Shape &shape, DataType type, const std::vector<double> &values);

// The same, and poison where there are no values, which must not reach the output.
Tensor filled(const Shape &shape, DataType type, const std::vector<double> &values);

}  // namespace hk::test
