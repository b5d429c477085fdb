#pragma once
// The data of a quantised convolution and an independent check of its result: integer sums are
// exact, everything else is in double, at every output where there are few, at a sample of them
// where there are many.

#include <cstddef>
#include <vector>

#include "conv_samples.h"
#include "family.h"
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

class QuantizedConv2dReference {
public:
    explicit QuantizedConv2dReference(const QuantizedConv2dData &data);

    // Compares an output of the problem's type and layout. With v the result in double, in units
    // of the output's scale:
    //   s32: the sum itself
    //   f32: |output - v| <= slack
    //   u8, s8: |output - saturate(v + zero point)| <= 1/2 + slack: the nearest integer, and where
    //   v lies between two within the slack either of them
    //   slack = 8 u |v|, eight roundings (u = 2^-24); plus, where the input is f32, as much as an
    //   f32 sum of this length in any order may be off: (length + 4) u scale sum |w x|
    Check check(const std::byte *output) const;

private:
    struct Sample {
        Place at;
        double value, slack;
    };

    double error_of(double got, const Sample &sample, double &tolerance) const;

    QuantizedConv2dProblem problem_;
    int32_t output_zero_point_;
    std::vector<Sample> samples_;
};

}  // namespace hk::bench
