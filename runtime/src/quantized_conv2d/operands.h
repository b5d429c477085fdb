#pragma once
// A quantised convolution as kernels see it.

#include "convolution/operands.h"
#include "quantized_conv2d/check.h"

namespace hk::detail {

// What the bytes of a bias are, as generators/quantized_conv2d/quantized_conv2d_generator.cpp
// counts them.
enum class BiasKind : int32_t { none, real_f32, quantized_s8, quantized_s32, sum_s32 };

// The arguments that are numbers. Scales for all are 0 where each filter has its own.
struct QuantizedConv2dNumbers {
    QuantizedConv2dNumbers(const QuantizedConv2dTensors &tensors, const Conv2dOptions &options);

    std::array<NamedArgument, 15> named() const;

    int32_t input_flip = 0;
    float input_scale = 1;
    int32_t input_zero_point = 0;
    float scale_for_all = 1;
    int32_t weight_zero_point = 0;
    int32_t bias_kind = 0;
    float bias_scale_for_all = 1;
    int32_t bias_zero_point = 0;
    float output_scale = 1;
    int32_t output_flip = 0;
    int32_t output_zero_point = 0;
    bool integer_output = false;
    float slope = 1, low = 0, high = 0;
};

// Views of types that kernels have: an input or output of s8 is u8 (the highest bit of its bytes is
// flipped, by input_flip and output_flip, and 128 added to its zero point), an output of s32 is
// f32.
//   conv.bias [byte, k, g]: the bytes of its elements   scale, bias_scale [k, g]
// What is absent is a view of memory that is there (absent_vector).
struct QuantizedConv2dOperands {
    Conv2dOperands conv;  // its problem is normalised
    BufferView scale, bias_scale;
    bool has_scale = false, has_bias_scale = false;
};

// `own_queue`: as of packed_vector(). Throws InvalidArgument where a view is too large for kernels.
QuantizedConv2dOperands quantized_conv2d_operands(const QuantizedConv2dProblem &problem,
                                                  const QuantizedConv2dTensors &tensors,
                                                  bool own_queue);

// As normalise(): of nchw images are the input and the output.
void normalise_quantized(Conv2dOperands &operands);

// Rows for an input of u8 take s8 too.
DataType row_type(DataType input);

// Of a normalised problem, with the fields of convolution/fields.def and
// quantized_conv2d/fields.def.
Fields quantized_conv2d_fields(const QuantizedConv2dProblem &problem, const DeviceTraits &device);

}  // namespace hk::detail
