#include "convolution/channels_last.h"

#include <array>

namespace hk::detail {

namespace {

// Figures of Zen 3, bench --layout nchw: input=1x56x56x40,weight=16x3x3x40,stride=2,padding=1 takes
// 1.36 times as long by --row columns_s2. Few products don't pay for the copy of an element:
// input=1x112x112x64,weight=2x2x2x64,stride=2 takes 1.28 times as long of copies.
bool is_of_few_filters(const Conv2dProblem &problem) {
    constexpr int64_t most_filters = 24, fewest_products = 4;
    const auto &[stride_y, stride_x] = problem.options.stride;
    const int64_t taps = problem.kernel_height * problem.kernel_width;
    return problem.filters <= most_filters &&
           problem.filters * taps >= fewest_products * stride_y * stride_x &&
           problem.channels >= (stride_x > 1 ? 8 : 48);
}

// Of few pixels what a row of nchw copies of them is as large as the image: bench --filter
// 7x7_1024-2048_1x1 --list resnext50 takes 1.17 times as long by --row 1x1_columns_copied, 1.04
// and more others of 49 pixels, 14x14_1024-1024_1x1 as long.
bool is_of_few_pixels(const Conv2dProblem &problem) {
    constexpr int64_t most_pixels = 63;
    return problem.kernel_height == 1 && problem.kernel_width == 1 &&
           problem.height * problem.width <= most_pixels;
}

// Rows of nhwc take groups of so many in vectors.
bool is_of_known_groups(const Conv2dProblem &problem) {
    const int64_t groups = problem.options.groups, channels = problem.channels / groups;
    const bool known = channels == 4 || channels == 8 || channels == 16 || channels == 32;
    return groups > 1 && known && channels == problem.filters / groups;
}

bool is_of_winograd(const Conv2dProblem &problem) {
    const Conv2dOptions &options = problem.options;
    const int64_t groups = options.groups;
    return !options.direct && problem.kernel_height == 3 && problem.kernel_width == 3 &&
           options.stride == std::array<int64_t, 2>{1, 1} &&
           options.dilation == std::array<int64_t, 2>{1, 1} && problem.channels / groups >= 16 &&
           problem.filters / groups >= 16;
}

}  // namespace

bool pays_to_copy(const Conv2dProblem &problem) {
    if (problem.type != DataType::f32 || problem.options.layout != Layout::nchw) return false;
    return is_of_winograd(problem) || is_of_known_groups(problem) ||
           (problem.options.groups == 1 &&
            (is_of_few_filters(problem) || is_of_few_pixels(problem)));
}

// Columns of a phase of small images fill few vectors: bench --family conv2d_backward_data --layout
// nchw --list mobilenetv2 --filter 14x14_576-576_3x3_s2 --row depthwise3x3_s2 takes 1.9 times as
// long on Zen 3. Of 56 columns it takes as long.
bool pays_to_copy_gradients(const Conv2dProblem &problem) {
    constexpr int64_t widest = 32, fewest_groups = 8;
    const Conv2dOptions &options = problem.options;
    return problem.type == DataType::f32 && options.layout == Layout::nchw &&
           options.groups == problem.channels && problem.channels == problem.filters &&
           options.stride[1] > 1 && problem.width <= widest && problem.channels >= fewest_groups;
}

Tensor channels_last(const Tensor &nchw) { return nchw.permute({0, 2, 3, 1}); }

bool channels_are_neighbours(const Tensor &nhwc) {
    return nhwc.strides()[3] == 1 || nhwc.shape()[3] == 1;
}

Tensor copied_channels_last(const Tensor &nchw) {
    if (!nchw.defined()) return nchw;
    const Tensor view = channels_last(nchw);
    return channels_are_neighbours(view) ? view : view.to(view.device());
}

}  // namespace hk::detail
