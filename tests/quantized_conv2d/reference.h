#pragma once
// The definition of quantized_conv2d (hk/quantized_conv2d.h), one product after the other: exact
// sums of (input - zero point) * (weight - zero point), and f32 after them.

#include <vector>

#include "hk/quantized_conv2d.h"
#include "tests/conv2d/reference.h"

namespace hk::reference {

// Elements in the order n, y, x, k, whatever the layout.
struct QuantizedConv2dResult {
    // With a bias that has the scale of the products. Of whole numbers exact: doubles hold them up
    // to 2^53.
    Conv2dResult sum;

    // v, activated, in units of the output's scale: in double, and the sum of its terms'
    // magnitudes.
    std::vector<double> value, magnitude;
    // In f32 from the rounded sum. The definition leaves open whether multiplying and adding the
    // real bias rounds twice, or once.
    std::vector<float> separate, fused;
};

// On host tensors with any strides. `output`: undefined where it is f32 or s32.
QuantizedConv2dResult quantized_conv2d(const QuantizedTensor &input, const QuantizedTensor &weight,
                                       const QuantizedTensor &bias, const Quantization &output,
                                       const Conv2dOptions &options, const Rows &rows = {});

// v rounded half to even, moved by the zero point and saturated to the type.
double stored(double v, DataType type, int32_t zero_point);

// A sum as 32 bits hold it.
double wrapped(double sum);

// The scales of `count` elements.
std::vector<float> scales_of(const Quantization &quantization, int64_t count);

}  // namespace hk::reference
