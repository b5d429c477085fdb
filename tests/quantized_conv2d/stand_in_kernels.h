#pragma once
// A table of quantized_conv2d kernels that only note what they were called with.

#include <string>
#include <vector>

#include "HalideRuntime.h"
#include "hk/quantized_conv2d.h"

namespace hk::tests {

struct SeenBuffer {
    halide_type_t type;
    const uint8_t *host = nullptr;
    std::vector<int32_t> extents, strides;
    std::vector<uint8_t> bytes;  // of a vector: all of them
};

// The arguments of a quantized_conv2d kernel.
struct QuantizedCall {
    std::string kernel;
    SeenBuffer input, weight, scale, bias, bias_scale;
    int32_t stride_x = 0, stride_y = 0, dilation_x = 0, dilation_y = 0, padding_left = 0,
            padding_top = 0;
    int32_t input_flip = 0;
    float input_scale = 0;
    int32_t input_zero_point = 0;
    float scale_for_all = 0;
    int32_t weight_zero_point = 0, bias_kind = 0;
    float bias_scale_for_all = 0;
    int32_t bias_zero_point = 0;
    float output_scale = 0;
    int32_t output_flip = 0, output_zero_point = 0;
    bool integer_output = false;
    float slope = 0, low = 0, high = 0;
    SeenBuffer output;
};

extern QuantizedCall last_quantized_call;
extern int quantized_calls;

}  // namespace hk::tests
