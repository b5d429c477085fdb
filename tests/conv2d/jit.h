#pragma once
// The conv2d generator compiled in this process, for this CPU.

#include "tests/conv2d/check.h"
#include "tests/support/jit.h"

namespace hk::test {

// That of generators/conv2d/winograd.h.
JitAlgorithm winograd_algorithm();

class JitConv2d {
public:
    JitConv2d(const JitAlgorithm &algorithm, const std::string &schedule, const std::string &knobs,
              DataType type, Layout layout);

    // A packed output on the host; what the kernel did not write is poison.
    Tensor operator()(const Conv2dCase &c, const Conv2dOperands &operands) const;

private:
    std::string algorithm_;
    Halide::Callable function_;
};

}  // namespace hk::test
