#include "convolution/operands.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "convolution/channels_last.h"
#include "convolution/fold_taps.h"
#include "convolution/halo.h"
#include "convolution/halo_sizes.h"
#include "convolution/join.h"
#include "convolution/line.h"
#include "convolution/met_taps.h"
#include "convolution/sum_parts.h"
#include "hk/error.h"
#include "shape.h"
#include "storage.h"

namespace hk::detail {

namespace {

// Places of the dimensions in a view of input, residual and output.
struct Places {
    size_t channel, group, x, y, n;
};

Places places(Layout layout) {
    return layout == Layout::nhwc ? Places{0, 1, 2, 3, 4} : Places{2, 3, 0, 1, 4};
}

BufferView filter(const Tensor &tensor, int64_t groups) {
    const Shape &shape = tensor.shape(), &strides = tensor.strides();
    BufferView view(tensor, {});
    for (const size_t d : {3, 2, 1}) view.dims.push_back({shape[d], strides[d]});
    const int64_t per_group = shape[0] / groups;
    view.dims.push_back({per_group, strides[0]});
    view.dims.push_back({groups, strides[0] * per_group});
    return view;
}

// What stands for an absent residual. Kernels of a CPU may load it and drop it
// (generators/optional.h): of each of its elements they meet one of the output's first pixel, of
// nchw of its first row, of Planes::join() of its first plane. Those of devices don't, and a buffer
// can always be at a storage's start.
void stand_in_for_residual(Conv2dOperands &operands) {
    BufferView &residual = operands.residual;
    residual = operands.output;
    const bool nhwc = operands.problem.options.layout == Layout::nhwc;
    for (size_t d = nhwc ? 2 : 1; d < residual.dims.size(); d++) residual.dims[d].stride = 0;
    if (residual.storage && !residual.device().is_cpu()) residual.offset = 0;
}

// The stride of a direction with one output is never gone: it becomes the least that leaves one, so
// that no kernel counts in pixels past the input. `padded`: the input's and the padding's.
int64_t needed_stride(int64_t stride, int64_t padded, int64_t taps, int64_t dilation) {
    return std::min(stride, padded - (taps - 1) * dilation);
}

bool is_pointwise(const Conv2dProblem &problem) {
    const Padding &padding = problem.options.padding;
    return problem.kernel_height == 1 && problem.kernel_width == 1 && padding.top == 0 &&
           padding.bottom == 0 && padding.left == 0 && padding.right == 0;
}

// Columns of nchw stay next to each other, as kernels need them.
bool folds_columns(const Conv2dProblem &problem) {
    return problem.options.layout == Layout::nhwc || problem.options.stride[1] == 1;
}

}  // namespace

BufferView image_view(const Tensor &tensor, Layout layout, int64_t groups) {
    const Shape &shape = tensor.shape(), &strides = tensor.strides();
    const size_t c = layout == Layout::nhwc ? 3 : 1;
    const Dim channel{shape[c] / groups, strides[c]};
    const Dim group{groups, strides[c] * channel.extent};
    const Dim n{shape[0], strides[0]};
    const Dim y{shape[c == 3 ? 1 : 2], strides[c == 3 ? 1 : 2]};
    const Dim x{shape[c == 3 ? 2 : 3], strides[c == 3 ? 2 : 3]};
    return {tensor, c == 3 ? Dims{channel, group, x, y, n} : Dims{x, y, channel, group, n}};
}

BufferView vector_of_filters(const Tensor &tensor, const Conv2dProblem &problem) {
    const int64_t groups = problem.options.groups, per_group = problem.filters / groups;
    return {tensor, {{per_group, 1}, {groups, per_group}}};
}

BufferView absent_vector(std::initializer_list<const Tensor *> present, DataType type,
                         const Conv2dProblem &problem) {
    using Access = Tensor::Access;
    const int64_t bytes = problem.filters * size_of(type);
    const auto at_start = [&](const Tensor &tensor) {
        BufferView view = vector_of_filters(tensor, problem);
        view.type = type;
        view.offset = 0;
        return view;
    };
    const Device device = (*present.begin())->device();
    if (!device.is_cpu()) return at_start(**present.begin());
    for (const Tensor *tensor : present) {
        if (!tensor->defined() || !tensor->packed()) continue;
        const auto place = reinterpret_cast<uintptr_t>(Access::storage(*tensor).memory);
        if (place % static_cast<uintptr_t>(size_of(type)) != 0) continue;
        if (tensor->elements() * size_of(tensor->type()) < bytes) continue;
        return at_start(*tensor);
    }
    return vector_of_filters(Tensor({problem.filters}, type, device), problem);
}

const Tensor &packed_vector(const char *operation, const char *operand, const Tensor &tensor,
                            bool own_queue, Tensor &copy) {
    if (!tensor.defined() || tensor.packed()) return tensor;
    if (!own_queue && !tensor.device().is_cpu()) {
        throw InvalidArgument(std::string(operation) + ": " + operand + " has the stride " +
                              std::to_string(tensor.strides()[0]) +
                              ", on a caller's queue it must be 1");
    }
    return copy = tensor.to(tensor.device());
}

Conv2dOperands conv2d_operands(const Conv2dProblem &problem, const Tensor &input,
                               const Tensor &weight, const Tensor &bias, const Tensor &residual,
                               const Tensor &output) {
    const Layout layout = problem.options.layout;
    const int64_t groups = problem.options.groups;
    Conv2dOperands operands;
    operands.problem = problem;
    operands.has_bias = bias.defined();
    operands.has_residual = residual.defined();
    operands.input = image_view(input, layout, groups);
    operands.weight = filter(weight, groups);
    operands.output = image_view(output, layout, groups);
    operands.residual =
        operands.has_residual ? image_view(residual, layout, groups) : operands.output;
    if (operands.has_bias) operands.bias = vector_of_filters(bias, problem);
    return operands;
}

namespace {

void reset_unused_steps(Conv2dProblem &problem) {
    Conv2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    if (problem.kernel_height == 1) options.dilation[0] = 1;
    if (problem.kernel_width == 1) options.dilation[1] = 1;
    options.stride = {
        needed_stride(options.stride[0], problem.height + padding.top + padding.bottom,
                      problem.kernel_height, options.dilation[0]),
        needed_stride(options.stride[1], problem.width + padding.left + padding.right,
                      problem.kernel_width, options.dilation[1])};
}

void turn_views_of_column(Conv2dOperands &operands) {
    Conv2dProblem &problem = operands.problem;
    if (!is_column(problem)) return;
    const bool nhwc = problem.options.layout == Layout::nhwc;
    const Places at = places(problem.options.layout);
    const std::array<std::pair<BufferView *, size_t>, 4> views = {
        {{&operands.input, at.x},
         {&operands.residual, at.x},
         {&operands.output, at.x},
         {&operands.weight, nhwc ? 1 : 0}}};
    for (const auto &[view, x] : views) {
        const Dim &y = view->dims[x + 1];
        if (!nhwc && y.extent > 1 && y.stride != 1) return;
    }
    for (const auto &[view, x] : views) std::swap(view->dims[x], view->dims[x + 1]);
    turn_column(problem);
}

}  // namespace

bool is_column(const Conv2dProblem &problem) {
    const Padding &padding = problem.options.padding;
    return problem.width == 1 && problem.kernel_width == 1 && problem.height != 1 &&
           padding.left == 0 && padding.right == 0;
}

void turn_column(Conv2dProblem &problem) {
    Conv2dOptions &options = problem.options;
    std::swap(problem.width, problem.height);
    std::swap(problem.kernel_width, problem.kernel_height);
    std::swap(options.stride[0], options.stride[1]);
    std::swap(options.dilation[0], options.dilation[1]);
    options.padding = {0, 0, options.padding.top, options.padding.bottom};
}

void simplify_axes(Conv2dOperands &operands, int64_t fewest_folded) {
    cut_taps(operands);
    reset_unused_steps(operands.problem);
    fold_taps(operands, fewest_folded);
    turn_views_of_column(operands);
    fold_taps(operands, fewest_folded);
}

bool is_matrix_product(const Conv2dProblem &problem) {
    return is_pointwise(problem) && folds_columns(problem);
}

void fold_stride(Conv2dOperands &operands) {
    Conv2dProblem &problem = operands.problem;
    Conv2dOptions &options = problem.options;
    const Places at = places(options.layout);
    const int64_t height = problem.output_height(), width = problem.output_width();
    operands.input.dims[at.y] = {height, operands.input.dims[at.y].stride * options.stride[0]};
    operands.input.dims[at.x] = {width, operands.input.dims[at.x].stride * options.stride[1]};
    options.stride = {1, 1};
    problem.width = width;
    problem.height = height;
}

namespace {

// Images of one pixel and filters of one tap are the same in both layouts. In nhwc the images are
// pixels of a line.
void take_as_nhwc(Conv2dOperands &operands) {
    Conv2dProblem &problem = operands.problem;
    if (problem.options.layout == Layout::nhwc || problem.width != 1 || problem.height != 1) return;
    BufferView *const images[] = {&operands.input, &operands.residual, &operands.output};
    const auto adjacent = [](const Dim &dim) { return dim.stride == 1 || dim.extent == 1; };
    const auto in_vectors = [&](const BufferView *view) {
        const Dim &channel = view->dims[2], &group = view->dims[3];
        return adjacent(channel) && (channel.extent > 1 || adjacent(group));
    };
    if (!adjacent(operands.weight.dims[2]) || !std::ranges::all_of(images, in_vectors)) return;
    for (BufferView *view : images)  // x, y, c, g, n
        std::rotate(view->dims.begin(), view->dims.begin() + 2, view->dims.begin() + 4);
    // s, r, c, k, g
    std::rotate(operands.weight.dims.begin(), operands.weight.dims.begin() + 2,
                operands.weight.dims.begin() + 3);
    problem.options.layout = Layout::nhwc;
}

}  // namespace

void join_pixels(Conv2dOperands &operands) {
    take_as_nhwc(operands);
    Conv2dProblem &problem = operands.problem;
    const Layout layout = problem.options.layout;
    const Places at = places(layout);
    BufferView *const images[] = {&operands.input, &operands.residual, &operands.output};
    join(images, at.x, at.y);
    if (layout == Layout::nhwc && operands.output.dims[at.y].extent == 1) {
        join(images, at.x, at.n);
    }
    problem.width = operands.output.dims[at.x].extent;
    problem.height = operands.output.dims[at.y].extent;
    problem.batch = operands.output.dims[at.n].extent;
}

void canonicalise(Conv2dOperands &operands) {
    for (BufferView *view : {&operands.input, &operands.weight, &operands.bias, &operands.residual,
                             &operands.output}) {
        canonicalise(view->dims);
    }
}

void normalise(Conv2dOperands &operands) {
    simplify_axes(operands, kFewestFolded);
    if (is_matrix_product(operands.problem)) {
        fold_stride(operands);
        join_pixels(operands);
    }
    Conv2dProblem &problem = operands.problem;
    problem.aligned = is_aligned(
        problem, {&operands.input, &operands.weight, &operands.output, &operands.residual});
    problem.output_alignment = output_alignment(problem, {&operands.output, &operands.residual});
    problem.image_alignment =
        image_alignment(problem, {&operands.input, &operands.output, &operands.residual});
    problem.line = is_line(problem, {&operands.output, &operands.residual});
    if (!operands.has_residual) stand_in_for_residual(operands);
    canonicalise(operands);
}

void check_fit_kernel(const char *operation, const Conv2dOperands &operands) {
    check_fits_kernel(operation, "input", operands.input);
    check_fits_kernel(operation, "weight", operands.weight);
    check_fits_kernel(operation, "output", operands.output);
    if (operands.has_bias) check_fits_kernel(operation, "bias", operands.bias);
    if (operands.has_residual) check_fits_kernel(operation, "residual", operands.residual);
}

Conv2dShapes::Conv2dShapes(const Conv2dProblem &problem) {
    const bool nhwc = problem.options.layout == Layout::nhwc;
    const int64_t per_group = problem.channels / problem.options.groups;
    const auto packed = [&](Shape shape) {
        Shape strides = packed_strides(shape);
        return Tensor::Access::make(nullptr, problem.type, std::move(shape), std::move(strides));
    };
    input = packed(nhwc ? Shape{problem.batch, problem.height, problem.width, problem.channels}
                        : Shape{problem.batch, problem.channels, problem.height, problem.width});
    weight = packed(
        nhwc ? Shape{problem.filters, problem.kernel_height, problem.kernel_width, per_group}
             : Shape{problem.filters, per_group, problem.kernel_height, problem.kernel_width});
    output = packed(problem.output_shape());
}

Conv2dProblem normalised(const Conv2dProblem &problem, Normalise rewrite) {
    const Conv2dShapes shapes(problem);
    Conv2dOperands operands =
        conv2d_operands(problem, shapes.input, shapes.weight, {}, {}, shapes.output);
    rewrite(operands);
    return operands.problem;
}

int64_t sum_of_sides(const Padding &padding) {
    return std::abs(padding.top) + std::abs(padding.bottom) + std::abs(padding.left) +
           std::abs(padding.right);
}

// Sizes are below 2^31: products of two of them fit 64 bits, of four 128.
Fields conv2d_fields(const Conv2dProblem &problem, const DeviceTraits &device) {
    const bool on_cpu = device.is_cpu;
    const Conv2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    const __int128 channels = problem.channels / options.groups;
    const __int128 filters = problem.filters / options.groups;
    const __int128 out_h = problem.output_height(), out_w = problem.output_width();
    const int64_t taps = problem.kernel_height * problem.kernel_width;
    const __int128 depth = channels * taps;
    const int64_t reach_y = (problem.kernel_height - 1) * options.dilation[0] + 1;
    const int64_t reach_x = (problem.kernel_width - 1) * options.dilation[1] + 1;
    const int64_t reach = reach_y * reach_x;
    const auto outside = [](int64_t before, int64_t after) {
        return std::max<int64_t>(before, 0) + std::max<int64_t>(after, 0);
    };
    const int64_t padded_width = problem.width + outside(padding.left, padding.right);
    const int64_t padded_height = problem.height + outside(padding.top, padding.bottom);
    const __int128 vectors = (channels * static_cast<int64_t>(size_of(problem.type)) + 15) / 16;
    const int64_t phase_columns =
        std::max<int64_t>((problem.width + options.stride[1] - 1) / options.stride[1], 1);
    const __int128 tiles = problem.batch * ((out_h + 3) / 4) * ((out_w + 3) / 4);
    Fields fields(problem.type, options.layout);
#include "convolution/fields.def"
    return fields;
}

Conv2dNumbers::Conv2dNumbers(const Conv2dOptions &options) {
    const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
    stride_x = number(options.stride[1]);
    stride_y = number(options.stride[0]);
    dilation_x = number(options.dilation[1]);
    dilation_y = number(options.dilation[0]);
    padding_left = number(options.padding.left);
    padding_top = number(options.padding.top);
}

std::array<NamedArgument, 6> Conv2dNumbers::named() const {
    return {{{"stride_x", stride_x},
             {"stride_y", stride_y},
             {"dilation_x", dilation_x},
             {"dilation_y", dilation_y},
             {"padding_left", padding_left},
             {"padding_top", padding_top}}};
}

}  // namespace hk::detail
