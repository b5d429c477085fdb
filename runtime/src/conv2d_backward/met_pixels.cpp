#include "conv2d_backward/met_pixels.h"

#include "convolution/operands.h"

namespace hk::detail {

std::optional<Conv2dProblem> of_met_pixels(Conv2dProblem problem) {
    std::array<int64_t, 2> &stride = problem.options.stride;
    const bool strided = stride[0] > 1 || stride[1] > 1;
    const int64_t height = problem.output_height(), width = problem.output_width();
    stride = {1, 1};
    if (!strided || problem.options.layout != Layout::nchw || !is_matrix_product(problem))
        return std::nullopt;
    problem.height = height;
    problem.width = width;
    return problem;
}

Tensor met_pixels(const Tensor &image, const Tensor &output, const Conv2dOptions &options) {
    return image.slice(2, 0, output.shape()[2], options.stride[0])
        .slice(3, 0, output.shape()[3], options.stride[1]);
}

Conv2dOptions with_stride_1(Conv2dOptions options) {
    options.stride = {1, 1};
    return options;
}

}  // namespace hk::detail
