#pragma once
// The gradient of a depthwise filter (generators/conv2d_backward/conv2d_backward_weight.h) by
// threads that have the sums of all taps of a few groups: a row of the output each.

#include "generators/conv2d_backward/conv2d_backward_weight.h"

namespace hk::generators {

// A block takes vectors of so many groups, and rows of the output, one a thread, in tiles of so
// many columns. Blocks, of all groups together, are about `blocks`, and more where a thread would
// have more than kRowPixels pixels. The runtime knows this, too: conv2d_backward/parts.cpp.
struct DepthwiseRows {
    int vector, groups, rows, columns, blocks;
    int stride_x, stride_y, kernel_w, kernel_h;  // dilations are 1
    bool vectors;                                // groups are whole vectors, next to each other

    static constexpr int kRowPixels = 1024;
    static constexpr int kShares = 8;

    int window_w() const { return (columns - 1) * stride_x + kernel_w; }
    int window_h() const { return (rows - 1) * stride_y + kernel_h; }
};

// Tiles of columns, blocks of rows and images are divided in parts of equal length, of which x, y
// and n count what a part has. g counts vectors of groups, and lane those of one.
//
// window(column, line, lane, g, x, y, n, part) is what a tile and the rows of a block meet of the
// input, with zeros around it; tap(column, r, ..., row, part) what a row meets of it, and
// gradient(column, ..., row, part) the output's. sum(lane, g, s, r, row, part) is over r.x (a
// column), r.y = x, r.z = n and r.w = y; shared_sum is the same, for the block. partial adds up the
// rows of a block, share(g, s, r, share), of single groups, each kShares-th part, over of, and a
// fixed tree the shares: the order depends on the shape alone. What is past the last row or column
// has no part in any sum.
struct Conv2dBackwardWeightRows {
    Halide::Var lane{"lane"}, column{"column"}, line{"line"}, row{"row"}, part{"part"},
        of_shares{"of_shares"};
    Halide::Func window, tap, gradient, sum, shared_sum, partial, share, output;
    Halide::RDom r, of;
};
Conv2dBackwardWeightRows conv2d_backward_weight_rows(const Conv2dBackwardWeightOperands &operands,
                                                     const DepthwiseRows &size);

}  // namespace hk::generators
