#pragma once
// Group normalisation and its gradients:
//
//   output(n, y, x, c) = xhat(n, y, x, c) * weight(c) + bias(c)
//   with xhat(n, y, x, c) = (input(n, y, x, c) - mean(n, g)) * rstd(n, g), g the group of c,
//        mean(n, g)       = mean over y, x and the channels c of g of input(n, y, x, c)
//        rstd(n, g)       = 1 / sqrt(mean over the same of (input(n, y, x, c) - mean)^2 + epsilon)
//
//   input_gradient(n, y, x, c) = rstd * (d - mean over g of d - xhat * (mean over g of d * xhat))
//   with d = output_gradient(n, y, x, c) * weight(c)
//   weight_gradient(c) = sum over n, y, x of output_gradient(n, y, x, c) * xhat(n, y, x, c)
//   bias_gradient(c)   = sum over n, y, x of output_gradient(n, y, x, c)
//
// A group is channels / groups channels next to each other. One group is layer normalisation (of
// rows of C: [rows, 1, 1, C]), as many as channels instance normalisation. (Wu and He, Group
// Normalization, ECCV 2018; torch.nn.functional.group_norm)
//
// Layouts, outermost first: nhwc: [N, H, W, C]; nchw: [N, C, H, W]. Images, weight, bias and their
// gradients are of one type: f32, f16 or bf16; mean and rstd are f32. Sums are f32 and results
// rounded once. Before that xhat is off by at most 2^-14 * (1 + |xhat|) and rstd by 2^-14 of
// itself, whatever the number of elements and however far from zero they lie, where epsilon is not
// below 2^-20 of the variance; gradients by at most 2^-14 of the sum of their terms' magnitudes, of
// those of xhat as mean and rstd give it. A group with a NaN or an infinity is NaN, mean and rstd
// too, and one where squares of distances from the mean don't fit f32 is undefined.

#include "hk/kernel_info.h"
#include "hk/output.h"

namespace hk {

struct GroupNormOptions {
    Layout layout = Layout::nhwc;
    int64_t groups = 1;     // divides the channels
    float epsilon = 1e-5f;  // 0 or more; of 0 a group of equal elements is undefined
};

// A normalisation without its data: all that selection looks at.
struct GroupNormProblem {
    DataType type = DataType::f32;
    int64_t batch = 1, channels = 1, height = 1, width = 1;
    GroupNormOptions options;
    bool backward = false;  // the gradients
    // What kernels take as a row, of nchw a group of up to 32768 elements or else a channel, of
    // nhwc the channels of a group, is whole vectors of 4 next to each other, which begin at a
    // multiple of their size, in all images; so are rows of pixels. Of gradients only in nhwc.
    bool aligned = false;

    // Of packed tensors. Throws InvalidArgument where shape, type and options can't be right.
    static GroupNormProblem from_shape(const Shape &input, DataType type,
                                       const GroupNormOptions &options, bool backward = false);
};

// [N, groups] each, f32. Of the forward pass either may be undefined.
struct GroupNormStatistics {
    Tensor mean, rstd;
};

// weight and bias are [C], or undefined: 1 and 0. The output may be inplace(input).
//
// Tensors live on one device and are the caller's. They may be views: any strides, but that
// channels (nhwc) or columns (nchw) of images lie next to each other; a weight or bias that is not
// packed is copied, which is not done on a caller's queue of a device. What is written overlaps no
// other tensor, but in place. An empty batch is legal. The same call gives the same bits on any
// number of threads. Calls from several threads at once are safe; on a device they return when the
// work is queued. Throws InvalidArgument before anything runs; OutOfMemory, DeviceError,
// KernelFailure, after which what was to be written, in place too, is undefined.
void group_norm(const Tensor &input, const Tensor &weight, const Tensor &bias, const Output &output,
                const GroupNormStatistics &statistics, const GroupNormOptions &options,
                const Stream &stream = {});

// The same, into a new tensor, without statistics.
Tensor group_norm(const Tensor &input, const Tensor &weight = {}, const Tensor &bias = {},
                  const GroupNormOptions &options = {});

// What group_norm computes the gradients of; undefined ones are not wanted. `input` may be
// inplace() of the output's gradient or of the forward pass' input.
struct GroupNormGradients {
    Output input;
    Tensor weight, bias;
};

// `statistics` are those that group_norm gave of `input`; the mean is taken as it is, rounded to
// f32: it moves xhat by up to 2^-24 * |mean| * rstd. Of an empty batch the gradients of weight and
// bias are 0. Scratch memory: 8 bytes a channel of up to N images; of nhwc on devices, where groups
// have more than 32768 elements, of each 256 pixels, and what is left of them, of an image, or of a
// row of one whose rows do not lie behind each other. Else as group_norm.
void group_norm_backward(const Tensor &output_gradient, const Tensor &input, const Tensor &weight,
                         const GroupNormStatistics &statistics, const GroupNormGradients &gradients,
                         const GroupNormOptions &options, const Stream &stream = {});

// Runs one given row, whatever selection would take. Throws InvalidArgument where the row does not
// take the problem. For tests and measurements.
void group_norm_with(const KernelInfo &kernel, const Tensor &input, const Tensor &weight,
                     const Tensor &bias, const Output &output,
                     const GroupNormStatistics &statistics, const GroupNormOptions &options,
                     const Stream &stream = {});
void group_norm_backward_with(const KernelInfo &kernel, const Tensor &output_gradient,
                              const Tensor &input, const Tensor &weight,
                              const GroupNormStatistics &statistics,
                              const GroupNormGradients &gradients, const GroupNormOptions &options,
                              const Stream &stream = {});

// All rows of the family, in the order of the table; those with the condition backward=1 are of the
// gradients.
std::span<const KernelInfo> group_norm_kernels();

Selection select_group_norm(const GroupNormProblem &problem, DeviceType device,
                            const DeviceLimits &limits, bool explain = false);

}  // namespace hk
