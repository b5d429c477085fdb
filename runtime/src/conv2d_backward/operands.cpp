#include "conv2d_backward/operands.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "convolution/line.h"

namespace hk::detail {

namespace {

// The inverse of `value` modulo `modulus`, to which it is coprime, by the extended Euclidean
// algorithm: value * inverse - modulus * something = 1.
int64_t inverse_modulo(int64_t value, int64_t modulus) {
    int64_t remainder = modulus, next_remainder = value % modulus;
    int64_t factor = 0, next_factor = 1;
    while (next_remainder != 0) {
        const int64_t quotient = remainder / next_remainder;
        remainder = std::exchange(next_remainder, remainder - quotient * next_remainder);
        factor = std::exchange(next_factor, factor - quotient * next_factor);
    }
    return (factor % modulus + modulus) % modulus;
}

// Of nchw, of 1x1 filters: whether rows of them read the input as lines, too, and find the channels
// of a filter next to each other.
bool has_lines_of_filters(const Conv2dOperands &operands) {
    const Dim &channel = operands.weight.dims[2];  // s, r, c, k, g
    return is_line(operands.problem, {&operands.input}) &&
           (channel.stride == 1 || channel.extent == 1);
}

// Of nchw lanes of a bias' sum are along columns: rows that lie one behind the other become longer
// ones, of which parts of the sum still have some each.
void join_rows(Conv2dOperands &operands) {
    constexpr int64_t kMostColumns = 256;
    if (operands.problem.options.layout == Layout::nhwc ||
        !is_line(operands.problem, {&operands.output})) {
        return;
    }
    Dim &x = operands.output.dims[0], &y = operands.output.dims[1];
    int64_t rows = std::clamp<int64_t>(kMostColumns / x.extent, 1, y.extent);
    while (y.extent % rows != 0) rows--;
    if (rows == 1) return;
    x = {x.extent * rows, 1};
    y = {y.extent / rows, x.extent};
}

}  // namespace

StridePhase::StridePhase(int64_t stride, int64_t dilation)
    : common(static_cast<int32_t>(std::gcd(stride, dilation))),
      inverse(static_cast<int32_t>(inverse_modulo(dilation / common, stride / common))) {}

void normalise_backward_data(Conv2dOperands &operands) {
    simplify_axes(operands);
    const std::array<int64_t, 2> &stride = operands.problem.options.stride;
    if (is_matrix_product(operands.problem) && stride[0] == 1 && stride[1] == 1) {
        join_pixels(operands);
    }
    operands.problem.aligned =
        is_aligned(operands.problem, {&operands.input, &operands.weight, &operands.output});
    operands.problem.image_alignment = image_alignment(operands.problem, {&operands.output});
    // What is written: of phases pixels may be apart.
    operands.problem.output_alignment = image_alignment(operands.problem, {&operands.input});
    operands.problem.line = is_line(operands.problem, {&operands.input});
    canonicalise(operands);
}

void normalise_backward_weight(Conv2dOperands &operands) {
    simplify_axes(operands);
    if (is_matrix_product(operands.problem)) {
        fold_stride(operands);
        // Rows of nchw copy tiles of image rows: of depthwise filters a line of all pixels is long.
        const Conv2dOptions &options = operands.problem.options;
        if (options.layout == Layout::nhwc || options.groups != operands.problem.channels)
            join_pixels(operands);
    }
    operands.problem.aligned =
        is_aligned(operands.problem, {&operands.input, &operands.weight, &operands.output});
    operands.problem.output_alignment = output_alignment(operands.problem, {&operands.output});
    operands.problem.image_alignment =
        image_alignment(operands.problem, {&operands.input, &operands.output});
    operands.problem.line =
        is_line(operands.problem, {&operands.output}) &&
        (operands.problem.options.layout == Layout::nhwc || has_lines_of_filters(operands));
    canonicalise(operands);
}

void normalise_backward_bias(Conv2dOperands &operands) {
    join_rows(operands);
    canonicalise(operands);
}

}  // namespace hk::detail
