#pragma once
// Gradients of hk::conv2d (without an activation) from the gradient of its output:
//
//   input_gradient(n, iy, ix, c)   = sum over k of the group and all y, r, x, s with
//       iy = y * stride_y + r * dilation_y - padding_top and ix likewise, of
//       weight(k, r, s, c) * output_gradient(n, y, x, k)
//   weight_gradient(k, r, s, c)    = sum over n, y, x of
//       output_gradient(n, y, x, k) * input(n, iy, ix, g * C/G + c), zeros outside the input
//   bias_gradient(k)               = sum over n, y, x of output_gradient(n, y, x, k)
//
// Each becomes gradient = beta * gradient + sum, where beta is 0 (what was there is never used) or
// 1 (it accumulates). Layouts and types are those of hk/conv2d.h. Sums, and what is added to them,
// are f32 and rounded once. The input's gradient is as exact as hk/conv2d.h says, with C and K in
// each other's place, and Winograd's with strides of 1 alone. A weight's errs by at most 2^-11 of
// the sum of its terms' magnitudes, for any number of pixels: those that kernels don't add up so
// well, from some hundred thousand on a CPU and some thousand to half a million on a GPU, are added
// up in parts, which f16 and bf16 round too: once for up to eight parts, 64 where the weight is
// small, and once more for each further factor of that. A part past their range is infinite. On
// tensor cores, f16 and bf16 on CUDA, and f32 where allow_tf32 is set, it errs by at most
// 2^-9, beside what TF32 cuts off, as hk/conv2d.h has it. The order of adding depends on shapes,
// strides and the row alone: the same call gives the same bits, on any number of threads.
//
// Tensors live on one device and are the caller's; they may be views, as conv2d takes them, but a
// bias' gradient is packed. A gradient that is computed must not overlap another tensor of the
// call. An empty batch has zero gradients, which are there when the call returns.
// options.activation must be none.
//
// Memory beside the tensors: on a CPU, of images in nchw, gradients but a bias' are computed of
// copies in nhwc of all that is read and written, where no row takes the tensors as they are; a
// view whose channels are next to each other needs no copy. With a strided 1x1 filter they are
// of copies of the pixels that it meets. A weight's gradient takes at most 16 MB of a GPU's
// memory for parts of sums, on tensor cores up to eight times its elements in f32, if that is
// more, where few channels count as vectors of 16 bytes; and, on tensor cores in nchw and of few
// channels, gradients take copies of what they read, as hk/conv2d.h has them; in parts as much
// again, or eight times the weight, on any device, for each factor above.
//
// On a caller's OpenCL queue a part must begin where a buffer can. Calls from several threads at
// once are safe; on a device they return when the work is queued. They throw InvalidArgument before
// anything runs; OutOfMemory, DeviceError, KernelFailure, after which a gradient is undefined.

#include "hk/conv2d.h"

namespace hk {

// Those that are defined are computed; what is not asked for costs nothing.
struct Conv2dGradients {
    Tensor input, weight, bias;
};

// Any of the three in one call. `weight` may be undefined where gradients.input is, `input` where
// gradients.weight is.
void conv2d_backward(const Tensor &output_gradient, const Tensor &input, const Tensor &weight,
                     const Conv2dGradients &gradients, const Conv2dOptions &options, float beta = 0,
                     const Stream &stream = {});

void conv2d_backward_data(const Tensor &output_gradient, const Tensor &weight,
                          const Tensor &input_gradient, const Conv2dOptions &options,
                          float beta = 0, const Stream &stream = {});
void conv2d_backward_weight(const Tensor &output_gradient, const Tensor &input,
                            const Tensor &weight_gradient, const Conv2dOptions &options,
                            float beta = 0, const Stream &stream = {});
void conv2d_backward_bias(const Tensor &output_gradient, const Tensor &bias_gradient, Layout layout,
                          float beta = 0, const Stream &stream = {});

// The same, into a new tensor. With a stride the output's shape does not tell the input's.
Tensor conv2d_backward_data(const Tensor &output_gradient, const Tensor &weight,
                            const Shape &input_shape, const Conv2dOptions &options = {});
Tensor conv2d_backward_weight(const Tensor &output_gradient, const Tensor &input,
                              const Shape &weight_shape, const Conv2dOptions &options = {});
Tensor conv2d_backward_bias(const Tensor &output_gradient, Layout layout = Layout::nhwc);

// Runs one given row, whatever selection would take. Throws InvalidArgument where the row does not
// take the problem. For tests and measurements. Of a strided problem the row runs the whole, or
// else the phases (below) that it takes, and selection's rows the others. On a CPU a row of nhwc
// takes images in nchw as well, of copies.
void conv2d_backward_data_with(const KernelInfo &kernel, const Tensor &output_gradient,
                               const Tensor &weight, const Tensor &input_gradient,
                               const Conv2dOptions &options, float beta = 0,
                               const Stream &stream = {});
void conv2d_backward_weight_with(const KernelInfo &kernel, const Tensor &output_gradient,
                                 const Tensor &input, const Tensor &weight_gradient,
                                 const Conv2dOptions &options, float beta = 0,
                                 const Stream &stream = {});
void conv2d_backward_bias_with(const KernelInfo &kernel, const Tensor &output_gradient,
                               const Tensor &bias_gradient, Layout layout, float beta = 0,
                               const Stream &stream = {});

// All rows of the families, in the order of the table.
std::span<const KernelInfo> conv2d_backward_data_kernels();
std::span<const KernelInfo> conv2d_backward_weight_kernels();
std::span<const KernelInfo> conv2d_backward_bias_kernels();

// `problem`: the forward convolution. On a CPU, and by tensor cores, the input's gradient of a
// strided one is computed in phases, each a problem of stride one on views and a call of its own:
// pixels a stride apart, and the taps of the filter that meet them. The selection is that of the
// phase with the most taps, and where copies in nhwc are computed of, theirs.
Selection select_conv2d_backward_data(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain = false);
Selection select_conv2d_backward_weight(const Conv2dProblem &problem, DeviceType device,
                                        const DeviceLimits &limits, bool explain = false);
Selection select_conv2d_backward_bias(const Conv2dProblem &problem, DeviceType device,
                                      const DeviceLimits &limits, bool explain = false);

}  // namespace hk
