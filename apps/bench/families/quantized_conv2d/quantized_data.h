#pragma once
// The data of a quantised convolution, as other libraries take it.

#include <cstddef>
#include <vector>

#include "hk/quantized_conv2d.h"

namespace hk::bench {

// A quantised convolution without bias or activation, with its data in host memory, packed, in the
// problem's layout.
struct QuantizedConv2dData {
    QuantizedConv2dProblem problem;
    std::vector<std::byte> input;  // of the problem's input type
    std::vector<int8_t> weight;    // zero point 0
    float input_scale = 1;         // 1 and 0 where the input is f32
    int32_t input_zero_point = 0;
    std::vector<float> weight_scales;  // [K]
    float output_scale = 1;            // 1 and 0 where the output is f32 or s32
    int32_t output_zero_point = 0;

    bool integer() const { return problem.conv.type != DataType::f32; }
    // (weight scale(k) * stored weight) in f32, in the weight's own order.
    std::vector<float> dequantized_weight() const;
};

// Random elements. Inputs and outputs of u8 have zero point 0, as after a ReLU, of s8 another. The
// output's scale spreads three standard deviations of the result over the stored range.
QuantizedConv2dData random_quantized_conv2d(const QuantizedConv2dProblem &problem);

}  // namespace hk::bench
