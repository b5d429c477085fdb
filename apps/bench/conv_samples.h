#pragma once
// Which elements of a convolution's result, or of its gradients, a check looks at, and what each
// of them sums.

#include <cstdint>
#include <string>
#include <vector>

#include "hk/conv2d.h"

namespace hk::bench {

// Of an element. A weight's filters are images of their own: k, r, s, c of it are n, y, x, c here.
// Also the extents of a tensor.
struct Place {
    int64_t n, y, x, c;
};

// "output(n 0, y 3, x 2, k 7)" for the letters "nyxk".
std::string text_of(const std::string &tensor, const std::string &letters, const Place &at);

Place input_extents(const Conv2dProblem &problem);
Place weight_extents(const Conv2dProblem &problem);
Place output_extents(const Conv2dProblem &problem);

inline int64_t elements(const Place &extents) {
    return extents.n * extents.y * extents.x * extents.c;
}
Shape shape_of(Layout layout, const Place &extents);

inline int64_t index_of(Layout layout, const Place &extents, const Place &at) {
    if (layout == Layout::nhwc) {
        return ((at.n * extents.y + at.y) * extents.x + at.x) * extents.c + at.c;
    }
    return ((at.n * extents.c + at.c) * extents.y + at.y) * extents.x + at.x;
}

// Of a tensor whose elements sum `length` products each: every element where there are few
// products in all; otherwise the corners, which see padding and tails, for the first and the last
// channel, and a random sample.
std::vector<Place> sampled_places(const Place &extents, int64_t length);

// Products that an output sums, those with padding among them.
int64_t sum_length(const Conv2dProblem &problem);

// Calls visit(input index, weight index) for each product of an output, in the order of the
// definition, those with padding left out.
template<typename Visit>
void for_each_product(const Conv2dProblem &p, const Place &at, Visit &&visit) {
    const Conv2dOptions &o = p.options;
    const Place input = input_extents(p), weight = weight_extents(p);
    const int64_t first_channel = at.c / (p.filters / o.groups) * weight.c;
    for (int64_t r = 0; r < p.kernel_height; ++r) {
        const int64_t row = at.y * o.stride[0] + r * o.dilation[0] - o.padding.top;
        if (row < 0 || row >= p.height) continue;
        for (int64_t s = 0; s < p.kernel_width; ++s) {
            const int64_t column = at.x * o.stride[1] + s * o.dilation[1] - o.padding.left;
            if (column < 0 || column >= p.width) continue;
            for (int64_t c = 0; c < weight.c; ++c) {
                visit(index_of(o.layout, input, {at.n, row, column, first_channel + c}),
                      index_of(o.layout, weight, {at.c, r, s, c}));
            }
        }
    }
}

}  // namespace hk::bench
