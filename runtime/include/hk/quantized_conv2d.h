#pragma once
// Two-dimensional convolution (hk/conv2d.h) of a quantised weight, with an input that is quantised
// too or real.
//
//   input   u8 or s8 with one scale and zero point, or f32
//   weight  s8 with a scale of the tensor or of each filter, and a zero point
//   bias    [K]: f32; s8 or s32 with a quantisation of its own; or s32 without one, which has the
//           scale of the products, input scale * weight scale (input quantised)
//   output  f32; u8 or s8 with one scale and zero point; or s32 (input quantised): the sum itself
//
// Input u8 or s8: multiplications in 8 bits, the sum in s32 (it wraps like ONNX's where it leaves
// 32 bits; 65793 products can't), what follows in f32:
//   sum(n, y, x, k) = bias(k) where it has the scale of the products
//       + sum over c, r, s of (input - input zero point) * (weight - weight zero point)
//   v = f32(sum) * (input scale * weight scale(k) / output scale) + real bias(k) / output scale
// Input f32: the filter is dequantised where it is multiplied, never stored:
//   sum(n, y, x, k) = sum over c, r, s of input * (weight - weight zero point)       in f32,
//   as exact as hk/conv2d.h says
//   v = sum * (weight scale(k) / output scale) + real bias(k) / output scale
// Output f32 (output scale 1): activation(v). u8, s8: activation in units of the output's scale,
// then rounded half to even, the output's zero point added, saturated.
// Outside the input the numbers are zero: what is stored there is the input's zero point.
//
// On CUDA, compute capability 8.0, inputs of u8 and s8 in nhwc run on tensor cores from 16 filters
// a group, where Conv2dProblem::line holds: the same sums. Filters that are a multiple of 16 are
// stored at once where ::output_alignment is 16, others one by one. Channels that are a multiple of
// 16 are read as they are where ::aligned holds and filters are stored at once, all others, also
// few, from copies of input and weight, where the filter has no dilation along rows.
//
// These are ONNX's QLinearConv (u8, s8 to u8, s8; bias s32 without a quantisation), ConvInteger (to
// s32), and DequantizeLinear followed by Conv (to f32). Activations: none, relu, clamp, leaky_relu.

#include "hk/conv2d.h"
#include "hk/filter.h"
#include "hk/quantization.h"

namespace hk {

// A quantised convolution without its data: all that selection looks at.
struct QuantizedConv2dProblem {
    Conv2dProblem conv;  // type: of the input, u8, s8 or f32
    DataType output_type = DataType::f32;

    // Throws InvalidArgument where shapes, types or options don't fit each other.
    static QuantizedConv2dProblem from_shapes(const Shape &input, const Shape &weight,
                                              DataType input_type, DataType output_type,
                                              const Conv2dOptions &options);
};

// output = conv2d(input, weight, bias). `bias` may be undefined; the weight may be prepared.
//
// Shapes, layouts, devices, views, ownership, threads, streams and errors are those of hk::conv2d;
// scales of a channel each live on the device of their tensor. Throws InvalidArgument too for a
// quantisation that is missing, superfluous or does not fit its tensor. HK_LOG=select prints the
// row that each new problem takes.
void quantized_conv2d(const QuantizedTensor &input, const QuantizedFilter &weight,
                      const QuantizedTensor &bias, const QuantizedTensor &output,
                      const Conv2dOptions &options, const Stream &stream = {});

// The same, into a new tensor: in the output's place stand its type and quantisation.
QuantizedTensor quantized_conv2d(const QuantizedTensor &input, const QuantizedFilter &weight,
                                 const QuantizedTensor &bias = {},
                                 DataType output_type = DataType::f32,
                                 const Quantization &output_quantization = {},
                                 const Conv2dOptions &options = {});

// Runs one given row, whatever selection would take. For tests and measurements.
void quantized_conv2d_with(const KernelInfo &kernel, const QuantizedTensor &input,
                           const QuantizedFilter &weight, const QuantizedTensor &bias,
                           const QuantizedTensor &output, const Conv2dOptions &options,
                           const Stream &stream = {});

// All rows of the family, in the order of the table. Rows of type u8 take s8 inputs too; a row's
// condition output_bytes says what it makes: 1 u8 or s8, 4 f32 or s32.
std::span<const KernelInfo> quantized_conv2d_kernels();

// What packs the weights of the CPU's rows.
std::span<const KernelInfo> quantized_conv2d_filter_kernels();

Selection select_quantized_conv2d(const QuantizedConv2dProblem &problem, DeviceType device,
                                  const DeviceLimits &limits, bool explain = false);

}  // namespace hk
