#pragma once
// Two-dimensional pooling and its gradient:
//
//   max:      output(n, y, x, c) = max over r, s of input(n, iy, ix, c)
//   average:  output(n, y, x, c) = mean over r, s of input(n, iy, ix, c)
//   with iy = y * stride_y + r - padding_top, ix = x * stride_x + s - padding_left, of the pixels
//   inside the image alone.           (ONNX MaxPool; AveragePool with count_include_pad = 0)
//
// Layouts, outermost first: nhwc: [N, H, W, C]; nchw: [N, C, H, W]. All tensors of a call are of
// one type: f32, f16 or bf16; sums are f32 and rounded once. Before that one of up to 16384 terms
// is off by at most 2^-10 of the sum of their magnitudes, one of more, and on a GPU any, by at most
// 2^-14. Terms are pixels of a window, or windows of a pixel; of nchw on a CPU as many as there are
// beside each other and above each other. A NaN in a window is its maximum.
// Padding is below the window's size, so that every window holds a pixel.

#include "hk/conv2d.h"

namespace hk {

enum class Pooling : uint8_t { max, average };

std::string_view name_of(Pooling pooling) noexcept;  // "max", "average"

struct Pool2dOptions {
    Layout layout = Layout::nhwc;
    Pooling pooling = Pooling::max;
    std::array<int64_t, 2> kernel{2, 2}, stride{2, 2};  // y, x
    Padding padding{};
};

// A pooling without its data: all that selection looks at.
struct Pool2dProblem {
    DataType type = DataType::f32;
    int64_t batch = 1, channels = 1, height = 1, width = 1;  // of the input
    Pool2dOptions options;

    // Throws InvalidArgument where shape, type and options can't be right.
    static Pool2dProblem from_shape(const Shape &input, DataType type,
                                    const Pool2dOptions &options);

    int64_t output_height() const;
    int64_t output_width() const;
    Shape output_shape() const;
};

// Tensors live on one device and are the caller's. They may be views: any strides, but that
// channels (nhwc) or columns (nchw) lie next to each other. The output must not overlap the input.
// An empty batch is legal and does nothing. Calls from several threads at once are safe; on a
// device they return when the work is queued. Throws InvalidArgument before anything runs;
// OutOfMemory, DeviceError, KernelFailure.
void pool2d(const Tensor &input, const Tensor &output, const Pool2dOptions &options,
            const Stream &stream = {});

// The same, into a new tensor.
Tensor pool2d(const Tensor &input, const Pool2dOptions &options = {});

// input_gradient = the gradient of pool2d from that of its output; what was there is not used. Of
// max a window's gradient goes to its first maximum, row by row; a window of NaNs gives its to the
// first NaN. `output` is what pool2d made of `input`; of average both may be undefined. Every pixel
// adds up its windows in an order of its own, so that the same call gives the same bits on any
// number of threads. Tensors as above; the gradient overlaps no other.
void pool2d_backward(const Tensor &output_gradient, const Tensor &input, const Tensor &output,
                     const Tensor &input_gradient, const Pool2dOptions &options,
                     const Stream &stream = {});

// Runs one given row, whatever selection would take. Throws InvalidArgument where the row does not
// take the problem. For tests and measurements.
void pool2d_with(const KernelInfo &kernel, const Tensor &input, const Tensor &output,
                 const Pool2dOptions &options, const Stream &stream = {});
void pool2d_backward_with(const KernelInfo &kernel, const Tensor &output_gradient,
                          const Tensor &input, const Tensor &output, const Tensor &input_gradient,
                          const Pool2dOptions &options, const Stream &stream = {});

// All rows of the families, in the order of the table.
std::span<const KernelInfo> pool2d_kernels();
std::span<const KernelInfo> pool2d_backward_kernels();

Selection select_pool2d(const Pool2dProblem &problem, DeviceType device, const DeviceLimits &limits,
                        bool explain = false);
Selection select_pool2d_backward(const Pool2dProblem &problem, DeviceType device,
                                 const DeviceLimits &limits, bool explain = false);

}  // namespace hk
