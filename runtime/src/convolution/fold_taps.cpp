#include "convolution/fold_taps.h"

#include <cstdint>
#include <limits>

namespace hk::detail {

namespace {

// Whether `count` elements of a dimension follow `before` in memory, which are next to each other.
bool follows(const Dim &dim, int64_t count, int64_t before) {
    return count == 1 || dim.stride == before;
}

// Windows along one direction: as far apart as they are long, and nothing of the image left.
bool divides(int64_t size, int64_t outputs, int64_t taps, int64_t stride, int64_t dilation) {
    return size == outputs * taps && (outputs == 1 || stride == taps) && dilation == 1;
}

bool may_fold(int64_t channels, int64_t taps, int64_t fewest) {
    const int64_t folded = channels * taps;
    return taps > 1 && folded >= fewest && folded <= std::numeric_limits<int32_t>::max();
}

// Input [c, g, x, y, n], weight [c, s, r, k, g].
void fold_columns(Conv2dOperands &operands, int64_t fewest) {
    Conv2dProblem &problem = operands.problem;
    const int64_t channels = problem.channels, taps = problem.kernel_width;
    if (!may_fold(channels, taps, fewest)) return;
    Dims &input = operands.input.dims, &weight = operands.weight.dims;
    const auto in_line = [&](const Dims &dims, size_t x) {
        return follows(dims[0], channels, 1) && follows(dims[x], taps, channels);
    };
    if (!in_line(input, 2) || !in_line(weight, 1)) return;
    const int64_t outputs = problem.output_width();
    problem.channels *= taps;
    input[0] = weight[0] = {problem.channels, 1};
    input[2] = {outputs, problem.channels};
    weight[1] = {1, 0};
    problem.width = outputs;
    problem.kernel_width = 1;
    problem.options.stride[1] = 1;
}

// Input [x, y, c, g, n], weight [s, r, c, k, g].
void fold_planes(Conv2dOperands &operands, int64_t fewest) {
    Conv2dProblem &problem = operands.problem;
    const int64_t width = problem.kernel_width, taps = width * problem.kernel_height;
    if (problem.width != width || !may_fold(problem.channels, taps, fewest)) return;
    for (const BufferView *view : {&operands.input, &operands.weight}) {
        const Dims &dims = view->dims;
        if (!follows(dims[0], width, 1) || !follows(dims[1], problem.kernel_height, width) ||
            !follows(dims[2], problem.channels, taps))
            return;
    }
    problem.channels *= taps;
    for (BufferView *view : {&operands.input, &operands.weight}) {
        view->dims[0] = view->dims[1] = {1, 0};
        view->dims[2] = {problem.channels, 1};
    }
    problem.width = problem.height = problem.kernel_width = problem.kernel_height = 1;
}

}  // namespace

void fold_taps(Conv2dOperands &operands, int64_t fewest) {
    const Conv2dProblem &problem = operands.problem;
    const Conv2dOptions &options = problem.options;
    const Padding &padding = options.padding;
    if (options.groups != 1 || padding.left != 0 || padding.right != 0) return;
    if (!divides(problem.width, problem.output_width(), problem.kernel_width, options.stride[1],
                 options.dilation[1]))
        return;
    if (options.layout == Layout::nhwc) {
        fold_columns(operands, fewest);
    } else if (padding.top == 0 && padding.bottom == 0 && problem.output_height() == 1 &&
               divides(problem.height, 1, problem.kernel_height, options.stride[0],
                       options.dilation[0])) {
        fold_planes(operands, fewest);
    }
}

bool pays_to_join_windows(const Conv2dProblem &problem) {
    constexpr int64_t vector = 8, most_elements = 1 << 28;
    const Conv2dOptions &options = problem.options;
    const int64_t channels = problem.channels, taps = problem.kernel_width;
    if (problem.type != DataType::f32 || options.layout != Layout::nhwc || options.groups != 1 ||
        taps == 1 || options.dilation[1] != 1 || options.padding.left < 0 ||
        options.padding.right < 0)
        return false;
    if (channels > 4 * vector || taps > 1024) return false;  // copies would be large for few lanes
    const auto vectors = [](int64_t elements) { return (elements + vector - 1) / vector; };
    const double elements = static_cast<double>(problem.batch) * problem.height *
                            problem.output_width() * taps * channels;
    return elements > 0 && elements <= most_elements &&
           10 * vectors(taps * channels) <= 9 * taps * vectors(channels);
}

}  // namespace hk::detail
