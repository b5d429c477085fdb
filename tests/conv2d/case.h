#pragma once
// Random convolutions, steered by the conditions of a row of the table, and their comparison with
// the reference.

#include "tests/convolution/random_problem.h"
#include "tests/support/checked_call.h"

namespace hk::test {

struct Conv2dCase : ConvolutionCase {
    bool bias = false, residual = false;
    bool infinite_weight = false;  // an infinity is in the weight, too

    std::vector<int64_t> traits() const;
};

template<>
std::optional<Conv2dCase> random_case(uint64_t seed, const Conv2dRequest &request);

std::string to_string(const Conv2dCase &c);

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
