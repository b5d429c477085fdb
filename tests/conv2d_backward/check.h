#pragma once
// Runs a gradient of a convolution and compares it with the reference.

#include "hk/conv2d_backward.h"
#include "tests/support/checked_call.h"
#include "tests/conv2d_backward/case.h"

namespace hk::test {

// `row` null: what selection takes.
Outcome check(const Conv2dBackwardCase &c, Device device, const KernelInfo *row = nullptr);

std::span<const KernelInfo> rows_of(Pass pass);

}  // namespace hk::test
