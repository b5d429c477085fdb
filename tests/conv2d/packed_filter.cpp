#include "tests/conv2d/packed_filter.h"

namespace hk::test {

Halide::Buffer<float> packed_filter(const Conv2dProblem &p, const std::vector<double> &weight) {
    constexpr int block = 16;
    const auto narrow = [](int64_t value) { return static_cast<int>(value); };
    const int64_t filters = p.filters / p.options.groups, channels = p.channels / p.options.groups,
                  width = p.kernel_width, height = p.kernel_height;
    const bool nhwc = p.options.layout == Layout::nhwc;
    Halide::Buffer<float> packed(
        std::vector<int>{block, narrow(channels), narrow(width), narrow(height),
                         narrow((filters + block - 1) / block), narrow(p.options.groups)});
    packed.for_each_element([&](const int *at) {
        const int64_t k = at[4] * block + at[0], row = at[5] * filters + k;
        const int64_t c = at[1], s = at[2], r = at[3];
        const int64_t index = nhwc ? ((row * height + r) * width + s) * channels + c
                                   : ((row * channels + c) * height + r) * width + s;
        packed(at) = k < filters ? static_cast<float>(weight[static_cast<size_t>(index)]) : 0.f;
    });
    return packed;
}

}  // namespace hk::test
