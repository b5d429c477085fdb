#pragma once
// Runs a convolution and compares it with the reference.

#include "tests/conv2d/case.h"
#include "tests/support/checked_call.h"

namespace hk::test {

// `row` null: what selection takes.
Outcome check(const Conv2dCase &c, Device device, const KernelInfo *row = nullptr);

// The operands of a case as packed host tensors: input, weight, bias, residual.
struct Conv2dOperands {
    Shape input_shape, weight_shape, output_shape;
    std::vector<double> input, weight, bias, residual;
};
Conv2dOperands conv2d_operands(const Conv2dCase &c);

// The places where a packed output in row-major order differs from the reference, in words; empty
// where there are none. `row`: that computed it.
std::string compare(const Conv2dCase &c, const Conv2dOperands &operands, const Tensor &output,
                    const KernelInfo *row = nullptr);

}  // namespace hk::test
