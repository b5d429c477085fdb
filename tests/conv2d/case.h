#pragma once
// Random convolutions, steered by the conditions of a row of the table.

#include "tests/convolution/random_problem.h"

namespace hk::test {

struct Conv2dCase : ConvolutionCase {
    bool bias = false, residual = false;
};

template<>
std::optional<Conv2dCase> random_case(uint64_t seed, const Conv2dRequest &request);

std::string to_string(const Conv2dCase &c);

}  // namespace hk::test
