#include "convolution/channels_last.h"

namespace hk::detail {

// Figures of Zen 3, bench --layout nchw: of copies
// input=1x56x56x40,weight=16x3x3x40,stride=2,padding=1 has 1.36 times the speed of --row
// columns_s2, input=1x56x56x64,weight=24x3x3x64,padding=1 as much of --row winograd. Few products
// would not pay for an element's copy: input=1x112x112x64,weight=2x2x2x64,stride=2 0.78.
bool pays_to_copy(const Conv2dProblem &problem) {
    constexpr int64_t most_filters = 24, fewest_products = 4;
    const Conv2dOptions &options = problem.options;
    const auto &[stride_y, stride_x] = options.stride;
    if (problem.type != DataType::f32 || options.layout != Layout::nchw || options.groups != 1 ||
        problem.filters > most_filters)
        return false;
    const int64_t taps = problem.kernel_height * problem.kernel_width;
    if (problem.filters * taps < fewest_products * stride_y * stride_x) return false;
    // Winograd's second block of 16 filters would be half empty.
    const bool winograd = problem.kernel_height == 3 && problem.kernel_width == 3 &&
                          stride_y == 1 && stride_x == 1 && problem.filters > 16;
    return problem.channels >= (stride_x > 1 ? 8 : winograd ? 16 : 48);
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
