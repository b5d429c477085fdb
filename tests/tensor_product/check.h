#pragma once
// Runs a tensor product and compares it with the reference: integers exactly, reals within the
// tolerance of their sums.

#include "tests/support/checked_call.h"
#include "tests/tensor_product/case.h"
#include "tests/tensor_product/reference.h"

namespace hk::test {

// `row` null: what selection takes.
Outcome check(const TensorProductCase &c, Device device, const KernelInfo *row = nullptr);

// What is wrong of a packed result on the host. `exact`: sums are whole numbers.
std::string compare(bool exact, const reference::TensorProductResult &wanted, const Tensor &result);

}  // namespace hk::test
