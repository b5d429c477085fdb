#pragma once
// Runs a top-k and compares it with the reference, bit for bit.

#include "tests/support/checked_call.h"
#include "tests/topk/case.h"

namespace hk::test {

// `row` null: what selection takes.
Outcome check(const TopKCase &c, Device device, const KernelInfo *row = nullptr);

// The places where two packed host tensors of one shape and type differ, in words; empty where they
// don't.
std::string differing(const Tensor &got, const Tensor &wanted);

}  // namespace hk::test
