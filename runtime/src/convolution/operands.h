#pragma once
// A convolution as kernels see it: groups are a dimension, and what a 1x1 kernel allows is folded
// into strides.

#include "fields.h"
#include "hk/conv2d.h"
#include "kernel_arguments.h"
#include "kernel_buffer.h"

namespace hk::detail {

struct Conv2dOperands {
    Conv2dProblem problem;
    BufferView input, weight, bias, residual, output;
    bool has_bias = false, has_residual = false;
};

// Views in the layout's order, innermost first:
//   nhwc: input [c, g, x, y, n]  weight [c, s, r, k, g]  bias [k, g]  residual, output [k, g, x, y,
//   n] nchw: input [x, y, c, g, n]  weight [s, r, c, k, g]  bias [k, g]  residual, output [x, y, k,
//   g, n]
// An absent residual is a view of the right shape over the output, an absent bias is left to the
// caller (absent_vector). Tensors fit the problem.
Conv2dOperands conv2d_operands(const Conv2dProblem &problem, const Tensor &input,
                               const Tensor &weight, const Tensor &bias, const Tensor &residual,
                               const Tensor &output);

// An image in groups: [c, g, x, y, n] or [x, y, c, g, n].
BufferView image_view(const Tensor &tensor, Layout layout, int64_t groups);

// A vector of an element a filter, [K], as kernels see it: [k, g]. It must be packed.
BufferView vector_of_filters(const Tensor &tensor, const Conv2dProblem &problem);

// What stands for an absent vector of a type. Kernels of a CPU may load it and drop it
// (generators/optional.h): the memory of a packed tensor that has the bytes, else new memory.
// Kernels of a device read none of it: the start of the first tensor's storage, which is of the
// call's context and where a kernel's buffer can always begin. The first is defined.
BufferView absent_vector(std::initializer_list<const Tensor *> present, DataType type,
                         const Conv2dProblem &problem);

// Kernels need vectors of stride 1: the tensor, which may be undefined, or a packed copy, which is
// small. Throws InvalidArgument where a copy would be needed on a caller's queue.
const Tensor &packed_vector(const char *operation, const char *operand, const Tensor &tensor,
                            bool own_queue, Tensor &copy);

// The same convolution with fewer dimensions. Taps that meet nothing but padding are left out
// (convolution/met_taps.h). A dilation of one tap is 1, and a stride with one
// output the least that leaves one. Taps that are next to each other in memory are channels of one
// (convolution/fold_taps.h). An image of one column is one of one row. With a 1x1 kernel and no
// padding, strides of the convolution become strides of the input's view (nchw: of rows, and of
// columns that are 1 apart), and pixels that lie evenly apart become one dimension: x, y, n of
// nhwc, x, y of nchw. Images of nchw that are one pixel are taken as nhwc.
void normalise(Conv2dOperands &operands);

// Its parts: taps, dilations, strides, taps that are channels where these are no fewer than
// `fewest_folded`, and columns; fold_stride and join_pixels are for matrix products.
void simplify_axes(Conv2dOperands &operands, int64_t fewest_folded = 1);
bool is_matrix_product(const Conv2dProblem &problem);

// An image of one column, under a filter of one, and what it is as a row: simplify_axes() turns the
// views, too.
bool is_column(const Conv2dProblem &problem);
void turn_column(Conv2dProblem &problem);

void fold_stride(Conv2dOperands &operands);
void join_pixels(Conv2dOperands &operands);
void canonicalise(Conv2dOperands &operands);

// Throws InvalidArgument where a view is too large for kernels.
void check_fit_kernel(const char *operation, const Conv2dOperands &operands);

// Tensors of a problem, packed, without memory.
struct Conv2dShapes {
    explicit Conv2dShapes(const Conv2dProblem &problem);

    Tensor input, weight, output;
};

// What normalise() makes of a problem whose tensors are packed.
using Normalise = void (*)(Conv2dOperands &operands);
Conv2dProblem normalised(const Conv2dProblem &problem, Normalise rewrite = normalise);

// What fields see of a device: one that is here, or one of a kind with these limits.
struct DeviceTraits {
    DeviceTraits(Device device)  // a GPU's limits, of which no field is, cost a call time
        : DeviceTraits(device.type(), device.is_cpu() ? device.limits() : DeviceLimits()) {}
    DeviceTraits(DeviceType type, const DeviceLimits &limits)
        : is_cpu(type == DeviceType::cpu), avx512(!is_cpu || limits.avx512) {}

    bool is_cpu, avx512;
};

// Of a normalised problem, with the fields of convolution/fields.def. Of a CPU, which has no sums
// in parts, they need not be counted.
Fields conv2d_fields(const Conv2dProblem &problem, const DeviceTraits &device);

// The sides' magnitudes: 0 where there is no padding and nothing is cut off.
int64_t sum_of_sides(const Padding &padding);

// Numbers as kernels take them.
struct Conv2dNumbers {
    explicit Conv2dNumbers(const Conv2dOptions &options);

    std::array<NamedArgument, 6> named() const;

    int32_t stride_x, stride_y, dilation_x, dilation_y, padding_left, padding_top;
};

}  // namespace hk::detail
