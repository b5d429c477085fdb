#pragma once
// Other libraries' quantised convolutions, for comparison.

#include "families/quantized_conv2d/quantized_data.h"
#include "hk/device.h"
#include "peers/conv2d_peer.h"

namespace hk::bench {

// oneDNN, activations in the problem's layout, integer inputs only. Its weights are reordered to
// the form that it asks for before anything is timed; and, as another peer, "oneDNN plain weights",
// in each run: what our kernels do too.
Peers onednn_quantized_conv2d(const QuantizedConv2dData &data, int threads);

// ONNX Runtime: a model of one QLinearConv node, of u8 to u8 or s8 to s8; of DequantizeLinear on
// the weight and Conv, of f32 to f32. The weight is an initializer; NCHW as onnxruntime_conv2d.
Peers onnxruntime_quantized_conv2d(const QuantizedConv2dData &data, int threads);

// Our own f32 convolution of a weight that was dequantised before: for f32 to f32 only.
Peers hk_f32_conv2d(const QuantizedConv2dData &data, const Device &device);

}  // namespace hk::bench
