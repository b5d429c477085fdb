#pragma once
// A table of conv2d kernels that are plain functions, so that the call of a kernel is tested
// without the kernel compiler. They compute the definition, and note what they were called with.

#include <string>
#include <vector>

#include "hk/conv2d.h"
#include "tests/support/noting_kernels.h"

namespace hk::tests {

// How the next calls of f16 kernels fail: with this status after this message.
struct Failure {
    int status = 0;
    std::string message;
};
extern Failure failure;

// Small integers that differ from place to place.
Tensor numbers(const Shape &shape, int seed);

std::vector<float> values(const Tensor &tensor);

}  // namespace hk::tests
