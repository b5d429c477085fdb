#pragma once
// Runs a quantised convolution and compares it with the reference.

#include "tests/support/checked_call.h"
#include "tests/quantized_conv2d/case.h"

namespace hk::test {

// `row` null: what selection takes.
Outcome check(const QuantizedConv2dCase &c, Device device, const KernelInfo *row = nullptr);

// The operands of a case. Scales: one, or one of each filter.
struct QuantizedConv2dOperands {
    std::vector<double> input, weight, bias;
    std::vector<float> weight_scales, bias_scales;
};
QuantizedConv2dOperands quantized_conv2d_operands(const QuantizedConv2dCase &c);

std::optional<DataType> bias_type(QuantizedBias bias);  // none where there is no bias

// The quantisations of a case's tensors; undefined where a tensor has none.
struct Quantizations {
    Quantizations(const QuantizedConv2dCase &c, const QuantizedConv2dOperands &operands,
                  Device device);
    Quantization input, weight, bias, output;
};

// The operands as packed host tensors.
struct QuantizedHostTensors {
    QuantizedHostTensors(const QuantizedConv2dCase &c, const QuantizedConv2dOperands &operands);
    QuantizedTensor input, weight, bias;
    Quantization output;
};

// The places where a packed output in row-major order differs from the reference, in words; empty
// where there are none.
std::string compare(const QuantizedConv2dCase &c, const QuantizedHostTensors &tensors,
                    const Tensor &output);

// The same of a part of the output, for those that are too large for the reference.
std::string compare_part(const QuantizedConv2dCase &c, const QuantizedHostTensors &tensors,
                         const Tensor &output, const Part &part);

}  // namespace hk::test
