// The gradients that threads compute in tiles of pixels, whose windows are known.

#include "generators/optional.h"
#include "generators/pool2d/pool2d_backward.h"
#include "generators/vectors.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr inside_of(const Expr &place, const Expr &size) { return clamp(place, 0, size - 1); }

// An image amid its edge.
Expr nearest(const Func &image, const Expr &width, const Expr &height) {
    return image(c, g, inside_of(x, width), inside_of(y, height), n);
}

void finish(const Pool2dBackwardOperands &op, Pool2dBackward &stages) {
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.sum(c, g, x, y, n));
}

// The windows that hold a pixel, in one direction.
struct Holding {
    Expr in_last, last;  // the pixel's place in the last one, and that
    Expr kernel, stride;

    Holding(const Expr &from, const Expr &kernel, const Expr &stride)
        : in_last(from % stride), last(from / stride), kernel(kernel), stride(stride) {}

    Expr most() const { return ceil_div(kernel, stride); }
    Expr holds(const Expr &before) const { return in_last + before * stride < kernel; }
};

}  // namespace

// What repeats the edge has the number of the edge's pixel: that a window finds it first, where
// that pixel is its first maximum, is no matter.
Pool2dBackward pool2d_backward_max_of_tiles(const Pool2dBackwardOperands &op) {
    const PoolWindows &w = op.windows;
    const auto number = [&](const Expr &px, const Expr &py) {
        return inside_of(py, w.height) * w.width + inside_of(px, w.width);
    };
    Pool2dBackward stages;
    stages.around = Func("around");
    stages.around(c, g, x, y, n) = nearest(op.input, w.width, w.height);
    stages.limit = Func("limit");
    stages.limit(c, g, x, y, n) = limit_of(op, nearest(op.output, op.out_w, op.out_h));
    stages.given = Func("given");
    stages.given(c, g, x, y, n) =
        select(within(x, op.out_w) && within(y, op.out_h),
               cast<float>(nearest(op.output_gradient, op.out_w, op.out_h)), 0.f);

    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    const Expr px = w.first_x(x) + w.kernel_x - 1 - stages.r.x;
    const Expr py = w.first_y(y) + w.kernel_y - 1 - stages.r.y;
    stages.window = Func("first_maximum");
    stages.window(c, g, x, y, n) = -1;
    const Expr later = stages.window(c, g, x, y, n);
    stages.window(c, g, x, y, n) =
        select(is_maximum(op, stages.around(c, g, px, py, n), stages.limit(c, g, x, y, n)),
               number(px, py), later);

    const Holding at_x(x + w.padding_left, w.kernel_x, w.stride_x),
        at_y(y + w.padding_top, w.kernel_y, w.stride_y);
    stages.w = RDom(0, at_x.most(), 0, at_y.most(), "w");
    stages.w.where(at_x.holds(stages.w.x) && at_y.holds(stages.w.y));
    const Expr window_x = at_x.last - stages.w.x, window_y = at_y.last - stages.w.y;
    stages.sum = Func("sum");
    stages.sum(c, g, x, y, n) += select(stages.window(c, g, window_x, window_y, n) == number(x, y),
                                        stages.given(c, g, window_x, window_y, n), 0.f);
    finish(op, stages);
    return stages;
}

// By rows, so that a pixel count is divided by once a column and once a row of windows.
Pool2dBackward pool2d_backward_average_of_tiles(const Pool2dBackwardOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2dBackward stages;
    stages.given = Func("given");
    stages.given(c, g, x, y, n) = select(
        within(x, op.out_w),
        cast<float>(nearest(op.output_gradient, op.out_w, op.out_h)) * (1.f / w.pixels_of_row(x)),
        0.f);
    const Holding at_x(x + w.padding_left, w.kernel_x, w.stride_x),
        at_y(y + w.padding_top, w.kernel_y, w.stride_y);
    stages.taps = RDom(0, at_x.most(), "taps");
    stages.taps.where(at_x.holds(stages.taps));
    stages.across = Func("across");
    stages.across(c, g, x, y, n) += stages.given(c, g, at_x.last - stages.taps, y, n);
    stages.dense = Func("share");
    stages.dense(c, g, x, y, n) = select(
        within(y, op.out_h), stages.across(c, g, x, y, n) * (1.f / w.pixels_of_column(y)), 0.f);
    stages.w = RDom(0, at_y.most(), "w");
    stages.w.where(at_y.holds(stages.w));
    stages.sum = Func("sum");
    stages.sum(c, g, x, y, n) += stages.dense(c, g, x, at_y.last - stages.w, n);
    finish(op, stages);
    return stages;
}

}  // namespace hk::generators
