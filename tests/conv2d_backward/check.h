#pragma once
// Runs a gradient of a convolution and compares it with the reference.

#include "hk/conv2d_backward.h"
#include "tests/conv2d_backward/case.h"
#include "tests/support/checked_call.h"

namespace hk::test {

// `row` null: what selection takes.
Outcome check(const Conv2dBackwardCase &c, Device device, const KernelInfo *row = nullptr);

std::span<const KernelInfo> rows_of(Pass pass);

// Two kernels of the input's gradient give the same bits: of random grouped problems that the first
// takes, of real numbers, where a sum in another order would have other bits.
void expect_same_bits(const KernelInfo &first, const KernelInfo &other, Device device,
                      double operations);

}  // namespace hk::test
