#pragma once
// Pooling, in the index letters of generators/image_layout.h; there is one group. hk/pool2d.h says
// what a window is.

#include "generators/image_layout.h"
#include "generators/long_sum.h"

namespace hk::generators {

struct PoolWindows {
    Halide::Expr kernel_x, kernel_y, stride_x, stride_y, padding_left, padding_top;
    Halide::Expr width, height;  // of the input

    // The first column and row of a window; they may lie before the image.
    Halide::Expr first_x(const Halide::Expr &x) const { return x * stride_x - padding_left; }
    Halide::Expr first_y(const Halide::Expr &y) const { return y * stride_y - padding_top; }

    // The pixels of a window inside the image: next to each other, above each other, all; floats.
    Halide::Expr pixels_of_row(const Halide::Expr &x) const;
    Halide::Expr pixels_of_column(const Halide::Expr &y) const;
    Halide::Expr pixels(const Halide::Expr &x, const Halide::Expr &y) const {
        return pixels_of_row(x) * pixels_of_column(y);
    }
};

struct Pool2dOperands {
    Halide::Func input;
    PoolWindows windows;
    Halide::Expr channels;
    bool unpadded;      // no window reaches over the edge
    bool nhwc;          // channels lie next to each other
    Halide::Type type;  // of the output
    Halide::Target target;
};

// folded(c, g, x, y, n) is over the pixels r.x, r.y of a window, row by row; in blocks the sum that
// `blocked` has, of any number of pixels. A maximum that is not by rows is a pair, the largest
// number and whether there is a NaN: as one value that takes two comparisons a pixel.
//
// Of pooling by rows above(c, g, x, y, n) is what folding the pixels above each other at column x
// of the input makes, over `rows`, for the output's row y. column is the same at `columns`, which
// are all of the image, and what changes nothing before and after it. folded is then over r.x of
// column alone.
//
// Of tiles across(c, g, x, y, n) is the sum of the pixels next to each other, over `columns`, that
// the windows at column x of the output have in the input's row y; folded adds up r.x of them.
//
// Of planes, whose one window is all of them, rows are sets of kPlaneLanes numbers next to each
// other. part(lane, set, c, g, n) adds up a lane of every kPlaneParts-th set from `set` on: over
// r.x, such sets of a row, and r.y, rows. of_lane(lane, c, g, n) is the sum of its parts, folded(c,
// g, n) that over lanes.
// In lanes part(lane, c, g, n), which is of_lane too, adds up every kLanes-th row of an image, or
// column where channels do not lie next to each other, from `lane` on.
struct Pool2d {
    Halide::Func above, column, across, folded, output;
    Halide::RDom r, rows, columns;
    BlockedSum blocked;
    Halide::Func part, of_lane;
    Halide::Var lane{"lane"}, set{"set"};
    Halide::RDom lanes;
};

inline constexpr int kPlaneLanes = 16, kPlaneParts = 2, kLanes = 8;

Pool2d pool2d_max(const Pool2dOperands &operands);
Pool2d pool2d_average(const Pool2dOperands &operands);
Pool2d pool2d_average_of_tiles(const Pool2dOperands &operands);
Pool2d pool2d_average_in_blocks(const Pool2dOperands &operands);
Pool2d pool2d_max_by_rows(const Pool2dOperands &operands);
Pool2d pool2d_average_by_rows(const Pool2dOperands &operands);
Pool2d pool2d_average_in_lanes(const Pool2dOperands &operands);
Pool2d pool2d_average_of_planes(const Pool2dOperands &operands);

// The pixel at x, y of an image whose edge is repeated around it, unless nothing is read there. It
// changes no maximum: a window that reaches over an edge holds pixels of that edge.
Halide::Expr pixel_of_maximum(const Halide::Func &image, const PoolWindows &windows, bool unpadded,
                              const Halide::Expr &x, const Halide::Expr &y);

}  // namespace hk::generators
