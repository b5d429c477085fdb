#include "pool2d/problem.h"

#include <algorithm>
#include <array>
#include <limits>

#include "convolution/check.h"
#include "convolution/operands.h"
#include "hk/error.h"
#include "names.h"

namespace hk {

namespace {

using detail::conv2d_geometry;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr std::array<std::string_view, 2> kPoolings{"max", "average"};  // as Pooling

[[noreturn]] void fail(const char *operation, const std::string &what) {
    throw InvalidArgument(std::string(operation) + ": " + what);
}

// Windows are those of a convolution with a filter for each channel.
Conv2dOptions conv2d_options(const Pool2dOptions &options, int64_t channels) {
    Conv2dOptions conv;
    conv.layout = options.layout;
    conv.stride = options.stride;
    conv.padding = options.padding;
    conv.groups = channels;
    return conv;
}

Conv2dProblem as_conv2d(const Pool2dProblem &problem) {
    const Pool2dOptions &options = problem.options;
    return {problem.type,      problem.batch,     problem.channels,
            problem.height,    problem.width,     problem.channels,
            options.kernel[0], options.kernel[1], conv2d_options(options, problem.channels)};
}

void check_kernel(const char *operation, const char *size, int64_t value) {
    if (value >= 1 && value <= kMost) return;
    fail(operation, std::string("the kernel's ") + size + " is " + std::to_string(value) +
                        ", it must be 1 to " + std::to_string(kMost));
}

void check_padding(const char *operation, const char *side, int64_t padding, int64_t kernel) {
    if (padding < kernel) return;
    fail(operation, std::string("padding at the ") + side + " is " + std::to_string(padding) +
                        ", it must be smaller than the kernel, which has " +
                        std::to_string(kernel));
}

Pool2dProblem geometry(const char *operation, const Shape &input, DataType type,
                       const Pool2dOptions &options) {
    if (options.pooling != Pooling::max && options.pooling != Pooling::average) {
        fail(operation,
             "pooling " + std::to_string(static_cast<int>(options.pooling)) + " does not exist");
    }
    const auto &[kernel_y, kernel_x] = options.kernel;
    check_kernel(operation, "height", kernel_y);
    check_kernel(operation, "width", kernel_x);
    const bool nhwc = options.layout == Layout::nhwc;
    const int64_t channels = input.size() == 4 ? input[nhwc ? 3 : 1] : 1;
    const Shape filter =
        nhwc ? Shape{channels, kernel_y, kernel_x, 1} : Shape{channels, 1, kernel_y, kernel_x};
    detail::check_float(operation, type);
    const Conv2dProblem conv = conv2d_geometry(
        operation, input, filter, type, conv2d_options(options, std::max<int64_t>(channels, 1)));
    const Padding &padding = options.padding;
    check_padding(operation, "top", padding.top, kernel_y);
    check_padding(operation, "bottom", padding.bottom, kernel_y);
    check_padding(operation, "left", padding.left, kernel_x);
    check_padding(operation, "right", padding.right, kernel_x);
    return {type, conv.batch, conv.channels, conv.height, conv.width, options};
}

// How many terms a sum of all but the long rows adds up one after the other, at most, of so many
// above and next to each other. Rows of nchw add up columns first.
int64_t terms_in_sum(const Pool2dProblem &problem, int64_t above, int64_t beside) {
    return problem.options.layout == Layout::nhwc ? above * beside : above + beside;
}

int64_t pixels_in_sum(const Pool2dProblem &problem) {
    const auto &[kernel_y, kernel_x] = problem.options.kernel;
    return terms_in_sum(problem, std::min(kernel_y, problem.height),
                        std::min(kernel_x, problem.width));
}

// Of a pixel.
int64_t windows_in_sum(const Pool2dProblem &problem, int64_t out_h, int64_t out_w) {
    const auto most = [&](size_t axis, int64_t windows) {
        const int64_t kernel = problem.options.kernel[axis], stride = problem.options.stride[axis];
        return std::min((kernel + stride - 1) / stride, windows);
    };
    return terms_in_sum(problem, most(0, out_h), most(1, out_w));
}

int64_t whole_plane(const Pool2dProblem &problem, int64_t out_h, int64_t out_w) {
    const Pool2dOptions &options = problem.options;
    const bool whole = out_h == 1 && out_w == 1 &&
                       options.kernel[0] - options.padding.top >= problem.height &&
                       options.kernel[1] - options.padding.left >= problem.width;
    return whole ? problem.height * problem.width : 0;
}

}  // namespace

std::string_view name_of(Pooling pooling) noexcept { return detail::name_in(kPoolings, pooling); }

Pool2dProblem Pool2dProblem::from_shape(const Shape &input, DataType type,
                                        const Pool2dOptions &options) {
    return geometry("pool2d", input, type, options);
}

int64_t Pool2dProblem::output_height() const { return as_conv2d(*this).output_height(); }
int64_t Pool2dProblem::output_width() const { return as_conv2d(*this).output_width(); }
Shape Pool2dProblem::output_shape() const { return as_conv2d(*this).output_shape(); }

namespace detail {

Pool2dProblem check_pool2d(const Pool2dTensors &tensors, const Pool2dOptions &options) {
    const char *operation = tensors.operation;
    for (const Operand &operand : tensors.read) {
        if (!operand.tensor.defined()) fail(operation, std::string(operand.name) + " is undefined");
    }
    if (!tensors.written.tensor.defined()) {
        fail(operation, std::string(tensors.written.name) + " is undefined");
    }
    const Operand &first = tensors.read.front();
    std::vector<Operand> all(tensors.read.begin(), tensors.read.end());
    all.push_back(tensors.written);
    for (const Operand &operand : all) {
        check_device(operation, operand, first);
        check_type(operation, operand, first);
    }
    const Pool2dProblem problem =
        geometry(operation, tensors.image.tensor.shape(), first.tensor.type(), options);
    const Shape output = problem.output_shape();
    for (const Operand &operand : all) {
        const bool of_input = std::string_view(operand.name).starts_with("input");
        check_shape(operation, operand, of_input ? tensors.image.tensor.shape() : output);
        check_innermost(operation, operand, innermost_elements(options.layout));
    }
    check_elements_disjoint(operation, tensors.written);
    for (const Operand &operand : tensors.read) check_disjoint(operation, operand, tensors.written);
    return problem;
}

BufferView pool2d_view(const char *operation, const Operand &image, Layout layout) {
    BufferView view = image_view(image.tensor, layout, 1);
    canonicalise(view.dims);
    check_fits_kernel(operation, image.name, view);
    return view;
}

Fields pool2d_fields(const Pool2dProblem &problem) {
    const Pool2dOptions &options = problem.options;
    const int64_t out_h = problem.output_height(), out_w = problem.output_width();
    Fields fields(problem.type, options.layout);
#include "pool2d/fields.def"
    return fields;
}

std::string to_string(const Pool2dProblem &problem, const char *operation) {
    const Pool2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    const auto pair = [](const std::array<int64_t, 2> &values) {
        return hk::to_string(Shape(values.begin(), values.end()));
    };
    const Shape input = options.layout == Layout::nhwc
                            ? Shape{problem.batch, problem.height, problem.width, problem.channels}
                            : Shape{problem.batch, problem.channels, problem.height, problem.width};
    return std::string(operation) + " " + std::string(name_of(options.pooling)) + " " +
           std::string(name_of(options.layout)) + " " + std::string(name_of(problem.type)) +
           ", input " + hk::to_string(input) + ", kernel " + pair(options.kernel) + ", stride " +
           pair(options.stride) + ", padding " +
           hk::to_string(Shape{padding.top, padding.bottom, padding.left, padding.right});
}

}  // namespace detail

}  // namespace hk
