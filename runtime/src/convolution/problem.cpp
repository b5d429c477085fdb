// Conv2dProblem: what a convolution is without its data, and whether it can be one.

#include <array>
#include <limits>

#include "convolution/check.h"
#include "convolution/weight_order.h"
#include "hk/error.h"

namespace hk {

namespace {

using detail::kMostTile;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

std::string text(int64_t value) { return std::to_string(value); }

// What is checked of the sizes of a convolution, in messages of one operation.
class Checks {
public:
    explicit Checks(const char *operation) : operation_(operation) {}

    [[noreturn]] void fail(const std::string &what) const {
        throw InvalidArgument(std::string(operation_) + ": " + what);
    }

    void rank(const char *operand, const Shape &shape) const {
        if (shape.size() != 4) {
            fail(std::string(operand) + " has " + text(static_cast<int64_t>(shape.size())) +
                 " dimensions, " + to_string(shape) + ", it needs 4");
        }
    }

    // Kernels count in 32 bits. Names are no strings: every call checks every size.
    void size(const char *what, int64_t value, int64_t least, const char *axis = "") const {
        if (value < least || value > kMost) {
            fail(std::string(what) + axis + " is " + text(value) + ", it must be " + text(least) +
                 " to " + text(kMost));
        }
    }

    void layout(Layout layout) const {
        if (layout == Layout::nhwc || layout == Layout::nchw) return;
        fail("the layout is " + std::string(name_of(layout)) + ", it must be nhwc or nchw");
    }

    void options(const Conv2dOptions &options) const {
        size("stride of y", options.stride[0], 1);
        size("stride of x", options.stride[1], 1);
        size("dilation of y", options.dilation[0], 1);
        size("dilation of x", options.dilation[1], 1);
        size("padding at the top", options.padding.top, 0);
        size("padding at the bottom", options.padding.bottom, 0);
        size("padding at the left", options.padding.left, 0);
        size("padding at the right", options.padding.right, 0);
    }

    void sizes(const Conv2dProblem &problem) const {
        size("the batch", problem.batch, 0);
        size("the input's number of channels", problem.channels, 1);
        size("the input's height", problem.height, 1);
        size("the input's width", problem.width, 1);
        size("the weight's number of filters", problem.filters, 1);
        size("the weight's height", problem.kernel_height, 1);
        size("the weight's width", problem.kernel_width, 1);
    }

    // `per_group`: input channels of the weight.
    void groups(const Conv2dProblem &problem, int64_t per_group) const {
        const int64_t groups = problem.options.groups;
        size("groups", groups, 1);
        size("the weight's number of input channels", per_group, 1);
        if (problem.channels % groups != 0) {
            fail("the input has " + text(problem.channels) + " channels, " + text(groups) +
                 " groups don't divide them");
        }
        if (problem.filters % groups != 0) {
            fail("the weight has " + text(problem.filters) + " filters, " + text(groups) +
                 " groups don't divide them");
        }
        if (problem.channels / groups != per_group) {
            fail("weight has " + text(per_group) + " input channels, input has " +
                 text(problem.channels) + (groups == 1 ? "" : " in " + text(groups) + " groups"));
        }
    }

    void output(const char *axis, int64_t outputs, int64_t padded, int64_t taps,
                int64_t dilation) const {
        if (outputs < 1) {
            fail(std::string("the kernel reaches over ") + text((taps - 1) * dilation + 1) + " " +
                 axis + ", the padded input has " + text(padded));
        }
        size("the output's number of ", outputs, 1, axis);
    }

    // Kernels also count pixels of outputs past the last, where a tile has such; not so of one
    // output, whose stride they don't take (simplify_axes).
    void padded(const char *axis, int64_t outputs, int64_t padded, int64_t stride) const {
        size("the padded input's number of ", padded, 1, axis);
        const int64_t reached = padded + (outputs == 1 ? 0 : kMostTile * stride);
        if (reached <= kMost) return;
        fail("the padded input has " + text(padded) + " " + axis + " and the stride is " +
             text(stride) + ": with " + text(kMostTile) + " strides more they are " +
             text(reached) + ", a kernel counts to " + text(kMost));
    }

private:
    const char *operation_;
};

// All factors are below 2^31, so two products of two fit 64 bits.
int64_t outputs(int64_t size, int64_t before, int64_t after, int64_t taps, int64_t stride,
                int64_t dilation) {
    const int64_t left = size + before + after - (taps - 1) * dilation - 1;
    return left < 0 ? 0 : left / stride + 1;
}

}  // namespace

Conv2dProblem detail::conv2d_geometry(const char *operation, const Shape &input,
                                      const Shape &weight, DataType type,
                                      const Conv2dOptions &options) {
    const Checks check(operation);
    check.layout(options.layout);
    check.rank("input", input);
    check.rank("weight", weight);
    check.options(options);
    const bool nhwc = options.layout == Layout::nhwc;
    const std::array<size_t, 3> chw =
        nhwc ? std::array<size_t, 3>{3, 1, 2} : std::array<size_t, 3>{1, 2, 3};
    Conv2dProblem problem;
    problem.type = type;
    problem.options = options;
    problem.batch = input[0];
    problem.channels = input[chw[0]];
    problem.height = input[chw[1]];
    problem.width = input[chw[2]];
    problem.filters = weight[0];
    problem.kernel_height = weight[chw[1]];
    problem.kernel_width = weight[chw[2]];
    check.sizes(problem);
    check.groups(problem, weight[chw[0]]);
    const Padding &padding = options.padding;
    const int64_t height = problem.height + padding.top + padding.bottom;
    const int64_t width = problem.width + padding.left + padding.right;
    const int64_t rows = problem.output_height(), columns = problem.output_width();
    check.output("rows", rows, height, problem.kernel_height, options.dilation[0]);
    check.output("columns", columns, width, problem.kernel_width, options.dilation[1]);
    check.padded("rows", rows, height, options.stride[0]);
    check.padded("columns", columns, width, options.stride[1]);
    return problem;
}

Conv2dProblem Conv2dProblem::from_shapes(const Shape &input, const Shape &weight, DataType type,
                                         const Conv2dOptions &options) {
    detail::check_float("conv2d", type);
    return detail::conv2d_geometry_of_weight("conv2d", input, weight, type, options);
}

int64_t Conv2dProblem::output_height() const {
    return outputs(height, options.padding.top, options.padding.bottom, kernel_height,
                   options.stride[0], options.dilation[0]);
}

int64_t Conv2dProblem::output_width() const {
    return outputs(width, options.padding.left, options.padding.right, kernel_width,
                   options.stride[1], options.dilation[1]);
}

Shape Conv2dProblem::output_shape() const {
    if (options.layout == Layout::nhwc) return {batch, output_height(), output_width(), filters};
    return {batch, filters, output_height(), output_width()};
}

double Conv2dProblem::operations() const {
    const auto product = [](std::initializer_list<int64_t> factors) {
        double result = 1;
        for (const int64_t factor : factors) result *= static_cast<double>(factor);
        return result;
    };
    return 2 * product({batch, output_height(), output_width(), filters, channels / options.groups,
                        kernel_height, kernel_width});
}

}  // namespace hk
