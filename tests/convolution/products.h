#pragma once
// Every product of a convolution, by the places of its three factors.

#include "hk/conv2d.h"

namespace hk::reference {

// Calls visit(output, input, filter, count) for runs of `count` products: of neighbouring outputs
// and filters, from these places on, with one input. Places are in the orders n, y, x, k of the
// output, n, y, x, c of the input and r, s, c, k of the weight. What an output sums comes in the
// order r, s, c.
template<typename Visit>
void for_each_product(const Conv2dProblem &p, Visit visit) {
    const Conv2dOptions &o = p.options;
    const int64_t channels = p.channels / o.groups, filters = p.filters / o.groups;
    const int64_t out_h = p.output_height(), out_w = p.output_width();
    for (int64_t pixel = 0; pixel < p.batch * out_h * out_w; pixel++) {
        const int64_t n = pixel / (out_h * out_w), y = pixel / out_w % out_h, x = pixel % out_w;
        for (int64_t tap = 0; tap < p.kernel_height * p.kernel_width; tap++) {
            const int64_t r = tap / p.kernel_width, s = tap % p.kernel_width;
            const int64_t in_y = y * o.stride[0] + r * o.dilation[0] - o.padding.top;
            const int64_t in_x = x * o.stride[1] + s * o.dilation[1] - o.padding.left;
            if (in_y < 0 || in_y >= p.height || in_x < 0 || in_x >= p.width) {
                continue;
            }
            const int64_t in_pixel = (n * p.height + in_y) * p.width + in_x;
            for (int64_t g = 0; g < o.groups; g++) {
                for (int64_t c = 0; c < channels; c++) {
                    visit(pixel * p.filters + g * filters, in_pixel * p.channels + g * channels + c,
                          (tap * channels + c) * p.filters + g * filters, filters);
                }
            }
        }
    }
}

}  // namespace hk::reference
