#include "generators/pool2d_backward.h"

#include <limits>

#include "generators/nan.h"

using namespace Halide;

namespace hk::generators {

namespace {

// How many windows hold a pixel, at most.
Expr most_windows(const Expr &kernel, const Expr &stride, const Expr &windows) {
    const Expr most = Internal::simplify(ceil_div(kernel, stride));
    return Internal::is_const_one(most) ? most : min(most, windows);
}

// The windows that hold a pixel, and what the pixel adds up.
class Gathering {
public:
    explicit Gathering(const Pool2dBackwardOperands &op) : op_(op) {
        const PoolWindows &windows = op.windows;
        stages.first_x = Func("first_x");
        stages.first_y = Func("first_y");
        stages.first_x(x) =
            max((x + windows.padding_left - windows.kernel_x) / windows.stride_x + 1, 0);
        stages.first_y(y) =
            max((y + windows.padding_top - windows.kernel_y) / windows.stride_y + 1, 0);
        stages.w = RDom(0, most_windows(windows.kernel_x, windows.stride_x, op.out_w), 0,
                        most_windows(windows.kernel_y, windows.stride_y, op.out_h), "w");
        next_x_ = stages.first_x(x) + stages.w.x;
        next_y_ = stages.first_y(y) + stages.w.y;
    }

    // Of the window a pixel adds.
    Expr of_window(const Func &value) const {
        return value(c, g, clamp(next_x_, 0, op_.out_w - 1), clamp(next_y_, 0, op_.out_h - 1), n);
    }

    // The place of the pixel in it.
    Expr place() const {
        const PoolWindows &windows = op_.windows;
        return (y - windows.first_y(next_y_)) * windows.kernel_x + x - windows.first_x(next_x_);
    }

    void add(const Expr &term) {
        const PoolWindows &windows = op_.windows;
        const Expr is_held = next_x_ < op_.out_w && windows.first_x(next_x_) <= x &&
                             next_y_ < op_.out_h && windows.first_y(next_y_) <= y;
        stages.sum = Func("sum");
        stages.sum(c, g, x, y, n) += select(is_held, term, 0.f);
        stages.output = Func("result");
        stages.output(c, g, x, y, n) = cast(op_.type, stages.sum(c, g, x, y, n));
    }

    Pool2dBackward stages;

private:
    const Pool2dBackwardOperands &op_;
    Expr next_x_, next_y_;
};

// The column of a window, of those that there are: vectors go over the last.
Expr column(const Pool2dBackwardOperands &op) { return min(x, op.out_w - 1); }

}  // namespace

// The edge is repeated around the image. To the right and below what repeats it has a place after
// the edge's own; to the left and above it would come before, and is passed over.
Pool2dBackward pool2d_backward_max(const Pool2dBackwardOperands &op) {
    constexpr int kNone = std::numeric_limits<int32_t>::max();
    const PoolWindows &windows = op.windows;
    Gathering gathering(op);
    Pool2dBackward &stages = gathering.stages;
    stages.r = RDom(0, windows.kernel_x, 0, windows.kernel_y, "r");
    const RDom &r = stages.r;
    const Expr px = windows.first_x(x) + r.x, py = windows.first_y(y) + r.y;
    const Expr element = pixel_of_maximum(op.input, windows, op.unpadded, px, py);
    const Expr best = cast<float>(op.output(c, g, column(op), y, n));
    Expr is_best = cast<float>(element) == best || is_nan_by_bits(element);
    if (!op.unpadded) is_best = px >= 0 && py >= 0 && is_best;
    stages.window = Func("first_best");
    stages.window(c, g, x, y, n) = kNone;
    stages.window(c, g, x, y, n) =
        min(stages.window(c, g, x, y, n), select(is_best, r.y * windows.kernel_x + r.x, kNone));
    const Expr is_its = gathering.of_window(stages.window) == gathering.place();
    gathering.add(select(is_its, cast<float>(gathering.of_window(op.output_gradient)), 0.f));
    return stages;
}

Pool2dBackward pool2d_backward_average(const Pool2dBackwardOperands &op) {
    const PoolWindows &windows = op.windows;
    Gathering gathering(op);
    Pool2dBackward &stages = gathering.stages;
    const Expr pixels =
        op.unpadded ? cast<float>(windows.kernel_x * windows.kernel_y) : windows.pixels(x, y);
    stages.window = Func("share");
    stages.window(c, g, x, y, n) = cast<float>(op.output_gradient(c, g, column(op), y, n)) / pixels;
    gathering.add(gathering.of_window(stages.window));
    return stages;
}

}  // namespace hk::generators
