#pragma once
// Two-dimensional convolution (cross-correlation, as in PyTorch and ONNX):
//
//   output(n, y, x, k) = activation(bias(k) + residual(n, y, x, k) + sum over c, r, s of
//       weight(k, r, s, c) * input(n, y * stride_y + r * dilation_y - padding_top,
//                                     x * stride_x + s * dilation_x - padding_left, g * C/G + c))
//   with g = k / (K/G), and zeros outside the input.     (ONNX operator Conv, opset 11)
//
// Layouts, outermost first:
//   nhwc: input [N, H, W, C], weight [K, R, S, C/G], output and residual [N, OH, OW, K]
//   nchw: input [N, C, H, W], weight [K, C/G, R, S], output and residual [N, K, OH, OW]
// bias is [K]. All tensors are of one type: f32, f16 or bf16; sums are f32 and rounded once.
// Before that a sum is off by at most 2^-9 of the sum of its terms' magnitudes; one of more than
// 32768 terms, however long, by at most 2^-14.
//
// Of bf16 an AMD CPU with AVX512_BF16, where the library is built for it, multiplies and adds up
// pairs of channels at once: products are exact and sums f32, to nearest even, but operands, sums
// and results below 2^-126 count as zero. Not so depthwise, nor in rows that read a plain weight.
// An Intel CPU with AMX, where the library is built for it and the system grants its registers,
// multiplies matrices of nhwc: from 16 filters a group and 16 channels, and of three. Products are
// exact, and of each 32 channels of a tap the even ones' are added up in f32, the odd ones', both,
// and then the sum before, each to nearest even; zero is what it is above.
//
// On CUDA, f16 and bf16, and f32 where allow_tf32 is set, run on tensor cores from 16 filters a
// group, in nhwc where those are a multiple of 8 and Conv2dProblem's line and an output_alignment
// of 16 hold.
// In nhwc, channels that are a multiple of 8, from 16, are read as they are, where `aligned` holds;
// all others, and nchw, from copies of input and weight that have neighbouring channels next to
// each other, those of a window's row where there are few. Products are exact, and added several at
// once, cut off to f32's digits, in the order that the hardware has. That is within the same bound
// for up to 14336 terms (1792 vectors of 16 bytes, of few channels); longer sums are multiply-adds
// in f32.
//
// On the CPU, 3x3 filters of f32 with strides and dilations of 1 may run as Winograd's
// F(4x4, 3x3), which has a quarter of the products, unless `direct` is set. Then a sum is off by at
// most
//   (C/G + 28) * 2^-24 * 161 * (largest |input|) * (sum of its filter's magnitudes)
// (Barabasz and others, Error Analysis and Improving the Accuracy of Winograd Convolution for Deep
// Neural Networks, 2020; on random data some 1e-6 of the largest output), sums of integers are not
// exact, and a NaN or infinity in the input reaches all of its tile of 4x4 outputs, as a NaN.
//
// Kernels count in 32 bits: the padded input's height and width, each with 128 strides more where
// there are several outputs along it, are below 2^31. That holds for all that convolve or pool.

#include <array>
#include <span>

#include "hk/activation.h"
#include "hk/filter.h"
#include "hk/kernel_info.h"
#include "hk/output.h"

namespace hk {

struct Padding {
    int64_t top = 0, bottom = 0, left = 0, right = 0;
};

struct Conv2dOptions {
    Layout layout = Layout::nhwc;
    std::array<int64_t, 2> stride{1, 1};    // y, x
    std::array<int64_t, 2> dilation{1, 1};  // y, x
    Padding padding{};
    int64_t groups = 1;
    Activation activation = Activation::none;
    float alpha = kNoLowerBound, beta = kNoUpperBound;  // of the activation
    bool direct = false;  // the definition's products alone: no Winograd
    // On CUDA, products of f32 may be of operands that are cut off to TF32, 10 bits behind the
    // point: an error of 2^-9 of each product's magnitude. What frameworks call so.
    bool allow_tf32 = false;
};

// A convolution without its data: all that selection looks at.
struct Conv2dProblem {
    DataType type = DataType::f32;
    int64_t batch = 1, channels = 1, height = 1, width = 1;    // of the input
    int64_t filters = 1, kernel_height = 1, kernel_width = 1;  // of the weight
    Conv2dOptions options;
    bool in_place = false;         // the output takes the residual's storage over, or is added to
    bool prepared_filter = false;  // hk/filter.h
    // Of nhwc: all tensors but the bias begin at multiples of 16 bytes, and so do their pixels and
    // rows.
    bool aligned = true;
    // Of output and residual alone, or of the image that a gradient writes: bytes, 16 at most, of
    // which their pixels and rows, in nchw their planes, begin at multiples. 0 where rows of a plane are not next to each other.
    int64_t output_alignment = 16;
    // Of input, output and residual, or of what a gradient reads of images: bytes, 16 at most, of
    // which their pixels and rows, in nchw their rows and planes, begin at multiples. 0 where
    // channels, in nchw columns, are not next to each other.
    int64_t image_alignment = 16;
    // Pixels of output and residual are evenly spaced, over rows and images, too; of nchw over
    // rows.
    bool line = true;

    // From the shapes of input and weight. Throws InvalidArgument where they don't fit each other
    // or the options.
    static Conv2dProblem from_shapes(const Shape &input, const Shape &weight, DataType type,
                                     const Conv2dOptions &options);

    int64_t output_height() const;
    int64_t output_width() const;
    Shape output_shape() const;
    double operations() const;  // multiplications and additions of the definition, padding included
};

// output = conv2d(input, weight, bias, residual). `bias` and `residual` may be undefined tensors.
//
// All tensors live on one device and are the caller's. Tensors may be views: any strides, but that
// channels (nhwc) or columns (nchw) of input, weight, residual and output lie next to each other.
// The output must not overlap an input, but it may take the residual's storage over:
//   hk::conv2d(input, weight, bias, residual, hk::inplace(residual), options);
// with the same result. An empty batch is legal and does nothing. Where the weight does not change,
// hk::prepare_filter(weight) in its place is faster. Scratch memory on the CPU: the weight in f32,
// or four times that for Winograd, unless it is prepared; a padded copy of some rows of the input,
// or some hundred KB of its tiles, a thread; in nchw, where a row of nhwc is faster, copies of
// input, weight, residual and output. On CUDA: at most 18 MB, for parts of long sums, and in
// nchw, from 16 channels and filters a group, copies of input and weight, channels rounded up to 16
// bytes.
//
// Calls from several threads at once are safe. On a device the call returns when the work is
// queued. Throws InvalidArgument before anything runs; OutOfMemory, DeviceError, KernelFailure.
// HK_LOG=select prints the row that each new problem takes to stderr. That the device is too small
// for a faster row is printed once a problem, unless HK_LOG is "off".
void conv2d(const Tensor &input, const Filter &weight, const Tensor &bias, const Tensor &residual,
            const Output &output, const Conv2dOptions &options, const Stream &stream = {});

// The same, into a new tensor.
Tensor conv2d(const Tensor &input, const Filter &weight, const Tensor &bias = {},
              const Tensor &residual = {}, const Conv2dOptions &options = {});

// Runs one given row, whatever selection would take, and so whatever it makes of long sums. Throws
// InvalidArgument where the row does not take the problem. For tests and measurements.
void conv2d_with(const KernelInfo &kernel, const Tensor &input, const Filter &weight,
                 const Tensor &bias, const Tensor &residual, const Output &output,
                 const Conv2dOptions &options, const Stream &stream = {});

// All rows, in the order of the table: of the family, and of what packs filters for it.
std::span<const KernelInfo> conv2d_kernels();
std::span<const KernelInfo> conv2d_filter_kernels();

Selection select_conv2d(const Conv2dProblem &problem, DeviceType device, const DeviceLimits &limits,
                        bool explain = false);

}  // namespace hk
