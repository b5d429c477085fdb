#pragma once
// Every product of a convolution, by the places of its three factors.

#include "hk/conv2d.h"

namespace hk::reference {

// Calls visit(pixel, tap, in_pixel) for each tap of each output that meets the input: the places of
// the output's pixel, of the filter's r, s and of the input's pixel. Of an output in the order r,
// s.
template<typename Visit>
void for_each_tap(const Conv2dProblem &p, Visit visit) {
    const Conv2dOptions &o = p.options;
    const int64_t out_h = p.output_height(), out_w = p.output_width();
    for (int64_t pixel = 0; pixel < p.batch * out_h * out_w; pixel++) {
        const int64_t n = pixel / (out_h * out_w), y = pixel / out_w % out_h, x = pixel % out_w;
        for (int64_t tap = 0; tap < p.kernel_height * p.kernel_width; tap++) {
            const int64_t r = tap / p.kernel_width, s = tap % p.kernel_width;
            const int64_t in_y = y * o.stride[0] + r * o.dilation[0] - o.padding.top;
            const int64_t in_x = x * o.stride[1] + s * o.dilation[1] - o.padding.left;
            if (in_y < 0 || in_y >= p.height || in_x < 0 || in_x >= p.width) continue;
            visit(pixel, tap, (n * p.height + in_y) * p.width + in_x);
        }
    }
}

// Calls visit(filter_row, channel, k, count) for the products of a tap: one channel of the input
// with `count` filters from k on, whose weights for it are a row in the order r, s, c.
template<typename Visit>
void for_each_run(const Conv2dProblem &p, int64_t tap, Visit visit) {
    const int64_t channels = p.channels / p.options.groups, filters = p.filters / p.options.groups;
    for (int64_t g = 0; g < p.options.groups; g++) {
        for (int64_t c = 0; c < channels; c++) {
            visit(tap * channels + c, g * channels + c, g * filters, filters);
        }
    }
}

}  // namespace hk::reference
