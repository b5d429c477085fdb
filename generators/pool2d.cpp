#include "generators/pool2d.h"

using namespace Halide;

namespace hk::generators {

namespace {

enum class Edge { repeated, zero };

Expr pixel_of_window(const Pool2dOperands &op, Edge edge, const RDom &r) {
    const PoolWindows &w = op.windows;
    const Func image = op.unpadded
                           ? in_f32(op.input)
                           : with_zeros_around(op.input, w.width, w.height, edge == Edge::repeated);
    return image(c, g, w.first_x(x) + r.x, w.first_y(y) + r.y, n);
}

}  // namespace

Expr PoolWindows::pixels(const Expr &x, const Expr &y) const {
    const auto inside = [](const Expr &first, const Expr &kernel, const Expr &size) {
        return min(first + kernel, size) - max(first, 0);
    };
    return cast<float>(inside(first_x(x), kernel_x, width)) *
           cast<float>(inside(first_y(y), kernel_y, height));
}

Pool2d pool2d_max(const Pool2dOperands &op) {
    Pool2d stages;
    stages.r = RDom(0, op.windows.kernel_x, 0, op.windows.kernel_y, "r");
    const Expr pixel = pixel_of_window(op, Edge::repeated, stages.r);
    stages.folded = Func("best");
    stages.folded(c, g, x, y, n) = Float(32).min();
    const Expr best = stages.folded(c, g, x, y, n);
    stages.folded(c, g, x, y, n) = select(pixel > best || is_nan(pixel), pixel, best);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.folded(c, g, x, y, n));
    return stages;
}

Pool2d pool2d_average(const Pool2dOperands &op) {
    Pool2d stages;
    stages.r = RDom(0, op.windows.kernel_x, 0, op.windows.kernel_y, "r");
    stages.folded = Func("sum");
    stages.folded(c, g, x, y, n) += pixel_of_window(op, Edge::zero, stages.r);
    const Expr pixels = op.unpadded ? cast<float>(op.windows.kernel_x * op.windows.kernel_y)
                                    : op.windows.pixels(x, y);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.folded(c, g, x, y, n) / pixels);
    return stages;
}

}  // namespace hk::generators
