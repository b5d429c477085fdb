#pragma once
// Random quantised convolutions, steered by the conditions of a row of the table.

#include "hk/quantized_conv2d.h"
#include "tests/convolution/random_problem.h"

namespace hk::test {

enum class QuantizedBias {
    none,
    real_f32,
    quantized_s8,
    quantized_s32,
    sum_s32,  // has the scale of the products
};

enum class Stored {
    any,      // over the whole range of the type
    ends,     // the range's ends alone, whose products are the largest
    centred,  // next to the zero point, and scales powers of two: many outputs lie halfway
};

// `problem.type` is that of the input. What has a scale of each filter has them around the one
// here.
struct QuantizedConv2dCase : ConvolutionCase {
    DataType output_type = DataType::f32;
    QuantizedBias bias = QuantizedBias::none;
    bool scale_per_filter = false, bias_scale_per_filter = false;
    float input_scale = 1, weight_scale = 1, output_scale = 1, bias_scale = 1;
    int32_t input_zero_point = 0, weight_zero_point = 0, output_zero_point = 0, bias_zero_point = 0;
    Stored stored = Stored::any;  // input (of bytes) and weight
    float unit = 1;               // some tens of it are what an output is off its zero point

    bool integer() const { return problem.type != DataType::f32; }
    bool requantized() const { return size_of(output_type) == 1; }
    std::vector<int64_t> traits() const;
};

// Of type u8: an input of u8 or s8. Besides the fields of convolutions `where` has output_bytes
// and signed_input, which is 0.
template<>
std::optional<QuantizedConv2dCase> random_case(uint64_t seed, const Conv2dRequest &request);

std::string to_string(const QuantizedConv2dCase &c);

}  // namespace hk::test
