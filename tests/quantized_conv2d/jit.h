#pragma once
// The quantized_conv2d generator compiled in this process, for this CPU.

#include "tests/support/jit.h"
#include "tests/quantized_conv2d/check.h"

namespace hk::test {

class JitQuantizedConv2d {
public:
    // `type` of the input: u8 stands for s8 too.
    JitQuantizedConv2d(const JitAlgorithm &algorithm, const std::string &schedule,
                       const std::string &knobs, DataType type, Layout layout);

    // A packed output on the host; what the kernel did not write is poison.
    Tensor operator()(const QuantizedConv2dCase &c, const QuantizedHostTensors &tensors) const;

private:
    Halide::Callable function_;
};

}  // namespace hk::test
