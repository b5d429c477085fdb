#pragma once
// Which outputs of a convolution a check looks at, and what each of them sums.

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "hk/conv2d.h"

namespace hk::bench {

struct OutputPlace {
    int64_t n, y, x, k;
};

// "output(n 0, y 3, x 2, k 7)"
std::ostream &operator<<(std::ostream &stream, const OutputPlace &at);

// Every output where there are few products in all; otherwise the corners, which see padding and
// tails, for the first and the last filter, and a random sample.
std::vector<OutputPlace> sampled_outputs(const Conv2dProblem &problem);

// Products that an output sums, those with padding among them.
int64_t sum_length(const Conv2dProblem &problem);

// Index of an element of an activation tensor with these extents.
inline int64_t activation_index(Layout layout, int64_t n, int64_t y, int64_t x, int64_t c,
                                int64_t height, int64_t width, int64_t channels) {
    if (layout == Layout::nhwc) return ((n * height + y) * width + x) * channels + c;
    return ((n * channels + c) * height + y) * width + x;
}

inline int64_t output_index(const Conv2dProblem &p, const OutputPlace &at) {
    return activation_index(p.options.layout, at.n, at.y, at.x, at.k, p.output_height(),
                            p.output_width(), p.filters);
}

// Calls visit(input index, weight index) for each product of an output, in the order of the
// definition, those with padding left out.
template<typename Visit>
void for_each_product(const Conv2dProblem &p, const OutputPlace &at, Visit &&visit) {
    const Conv2dOptions &o = p.options;
    const int64_t depth = p.channels / o.groups;
    const int64_t first_channel = at.k / (p.filters / o.groups) * depth;
    for (int64_t r = 0; r < p.kernel_height; ++r) {
        const int64_t row = at.y * o.stride[0] + r * o.dilation[0] - o.padding.top;
        if (row < 0 || row >= p.height) continue;
        for (int64_t s = 0; s < p.kernel_width; ++s) {
            const int64_t column = at.x * o.stride[1] + s * o.dilation[1] - o.padding.left;
            if (column < 0 || column >= p.width) continue;
            for (int64_t c = 0; c < depth; ++c) {
                // Filters are laid out as images of their own: [K, R, S, C/G] or [K, C/G, R, S].
                visit(activation_index(o.layout, at.n, row, column, first_channel + c, p.height,
                                       p.width, p.channels),
                      activation_index(o.layout, at.k, r, s, c, p.kernel_height, p.kernel_width,
                                       depth));
            }
        }
    }
}

}  // namespace hk::bench
