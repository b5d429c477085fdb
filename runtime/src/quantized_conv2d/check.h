#pragma once
// The arguments of a quantised convolution, and whether they can be right.

#include "convolution/check.h"
#include "hk/quantized_conv2d.h"

namespace hk::detail {

struct QuantizedConv2dTensors {
    const QuantizedTensor &input;
    const QuantizedFilter &filter;
    const QuantizedTensor &bias, &output;

    const Tensor &weight() const { return filter.values.tensor(); }
};

// Throws InvalidArgument for anything that is wrong with the arguments, but for what only a kernel
// can't take.
QuantizedConv2dProblem check_quantized_conv2d(const QuantizedConv2dTensors &tensors,
                                              const Conv2dOptions &options);

// The numbers that a stored type can hold.
struct StoredRange {
    int64_t least, most;
};

StoredRange range_of(DataType type);  // u8, s8 or s32

// "quantized_conv2d nhwc u8, input …, output s8"
std::string to_string(const QuantizedConv2dProblem &problem);

}  // namespace hk::detail
