#include "conv2d_backward/joined_windows.h"

#include "convolution/fold_taps.h"
#include "convolution/operands.h"
#include "storage.h"

namespace hk::detail {

namespace {

Tensor turned(const Tensor &image) { return image.permute({0, 2, 1, 3}); }

Conv2dProblem in_rows(Conv2dProblem problem) {
    if (is_column(problem)) turn_column(problem);
    return problem;
}

Conv2dProblem joined(Conv2dProblem problem) {
    Conv2dOptions &options = problem.options;
    const int64_t outputs = problem.output_width();
    problem.channels *= problem.kernel_width;
    problem.width = outputs;
    problem.kernel_width = 1;
    options.stride[1] = 1;
    options.padding.left = options.padding.right = 0;
    return problem;
}

bool are_adjacent(const Tensor &pixels) {
    const Shape &shape = pixels.shape(), &strides = pixels.strides();
    return (shape[3] == 1 || strides[3] == 1) && strides[2] == shape[3];
}

// With zeros at the sides, pixels next to each other.
Tensor with_sides(const Tensor &image, const Padding &padding) {
    const int64_t left = padding.left, right = padding.right;
    if (left == 0 && right == 0 && are_adjacent(image)) return image;
    Shape shape = image.shape();
    const int64_t width = shape[2];
    shape[2] += left + right;
    const Tensor wide(shape, image.type(), image.device());
    if (left > 0) wide.slice(2, 0, left).fill_zero();
    if (right > 0) wide.slice(2, left + width, right).fill_zero();
    wide.slice(2, left, width).copy_from(image);
    return wide;
}

// Of adjacent pixels, `taps` from every `stride`-th one on.
Tensor windows_of(const Tensor &image, int64_t windows, int64_t taps, int64_t stride) {
    const Shape &shape = image.shape(), &strides = image.strides();
    const int64_t channels = shape[3];
    return Tensor::Access::make(Tensor::Access::shared(image), image.type(),
                                {shape[0], shape[1], windows, taps * channels},
                                {strides[0], strides[1], stride * channels, 1},
                                Tensor::Access::byte_offset(image) / size_of(image.type()));
}

}  // namespace

std::optional<Conv2dProblem> of_joined_windows(const Conv2dProblem &problem) {
    const Conv2dProblem rows = in_rows(problem);
    if (!pays_to_join_windows(rows)) return std::nullopt;
    return joined(rows);
}

JoinedWindows::JoinedWindows(const Conv2dProblem &problem, const Conv2dBackwardTensors &tensors,
                             bool accumulate)
    : output_(tensors.output_gradient), input_(tensors.input), gradient_(tensors.gradients.weight) {
    const Conv2dProblem rows = in_rows(problem);
    if (is_column(problem))
        for (Tensor *tensor : {&output_, &input_, &gradient_}) *tensor = turned(*tensor);
    if (!are_adjacent(gradient_)) {
        view_ = gradient_;
        gradient_ = copy_ = Tensor(view_.shape(), view_.type(), view_.device());
        if (accumulate) copy_.copy_from(view_);
    }
    input_ = windows_of(with_sides(input_, rows.options.padding), rows.output_width(),
                        rows.kernel_width, rows.options.stride[1]);
    gradient_ = windows_of(gradient_, 1, rows.kernel_width, 0);
    options_ = joined(rows).options;
}

Conv2dBackwardTensors JoinedWindows::tensors() const {
    return {output_, input_, none_, {none_, gradient_, none_}};
}

void JoinedWindows::write_back() const {
    if (copy_.defined()) view_.copy_from(copy_);
}

}  // namespace hk::detail
