#pragma once
// Random poolings and gradients of them, steered by the conditions of a row of the table; each is
// compared with the reference.

#include "hk/pool2d.h"
#include "tests/support/checked_call.h"

namespace hk::test {

// `problem` is a convolution with a filter for each channel, which has the same windows. Where what
// is written lies is `output`; where what it is made of, `input`, and of the gradient of max what
// the forward pass saw and made, `weight`.
struct Pool2dCase : ConvolutionCase {
    Pooling pooling = Pooling::max;

    Pool2dProblem pool() const;
};

struct Pool2dBackwardCase : Pool2dCase {};

template<>
std::optional<Pool2dCase> random_case(uint64_t seed, const Conv2dRequest &request);
template<>
std::optional<Pool2dBackwardCase> random_case(uint64_t seed, const Conv2dRequest &request);

// `row` null: what selection takes.
Outcome check(const Pool2dCase &c, Device device, const KernelInfo *row = nullptr);
Outcome check(const Pool2dBackwardCase &c, Device device, const KernelInfo *row = nullptr);

std::string to_string(const Pool2dCase &c);

}  // namespace hk::test
