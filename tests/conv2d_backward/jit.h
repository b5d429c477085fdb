#pragma once
// The generators of conv2d's gradients compiled in this process, for this CPU.

#include "tests/conv2d_backward/case.h"
#include "tests/support/jit.h"

namespace hk::test {

class JitConv2dBackward {
public:
    JitConv2dBackward(Pass pass, const JitAlgorithm &algorithm, const std::string &schedule,
                      const std::string &knobs, DataType type, Layout layout);

    // A packed gradient on the host; what the kernel did not write is poison.
    Tensor operator()(const Conv2dBackwardCase &c, const BackwardOperands &operands) const;

private:
    Halide::Callable function_;
};

}  // namespace hk::test
