#pragma once
// ONNX's quantised operators, each from its own specification (opset 13), without what the library
// or its reference make of them.

#include <vector>

#include "hk/conv2d.h"

namespace hk::reference {

// ConvInteger, elements in the order n, y, x, k. Host tensors in the layout of the options.
std::vector<int32_t> conv_integer(const Tensor &x, const Tensor &w, int32_t x_zero_point,
                                  int32_t w_zero_point, const Conv2dOptions &options);

// QLinearConv: y = saturate(round(real) + y_zero_point), rounded half to even, with
// real = acc * x_scale * w_scale / y_scale in exact arithmetic, and `bias` (empty: none) in acc.
struct QLinearConv {
    std::vector<double> real;
    std::vector<int32_t> y;
};
QLinearConv qlinear_conv(const Tensor &x, double x_scale, int32_t x_zero_point, const Tensor &w,
                         const std::vector<float> &w_scales, int32_t w_zero_point, double y_scale,
                         int32_t y_zero_point, DataType y_type, const std::vector<double> &bias,
                         const Conv2dOptions &options);

// DequantizeLinear of packed f32 elements: (x - zero point) * scale, `scales` one for all or one
// for each slice of the outermost dimension.
Tensor dequantize_linear(const Tensor &x, const std::vector<float> &scales, int32_t zero_point);

}  // namespace hk::reference
