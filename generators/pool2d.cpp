#include "generators/pool2d.h"

#include "generators/nan.h"

using namespace Halide;

namespace hk::generators {

Expr PoolWindows::pixels(const Expr &x, const Expr &y) const {
    const auto inside = [](const Expr &first, const Expr &kernel, const Expr &size) {
        return min(first + kernel, size) - max(first, 0);
    };
    return cast<float>(inside(first_x(x), kernel_x, width)) *
           cast<float>(inside(first_y(y), kernel_y, height));
}

Expr pixel_of_maximum(const Func &image, const PoolWindows &windows, bool unpadded, const Expr &x,
                      const Expr &y) {
    const Range all = {Expr(), Expr()};
    const Region pixels = {all, all, {0, windows.width}, {0, windows.height}, all};
    const Func around = unpadded ? image : BoundaryConditions::repeat_edge(image, pixels);
    return around(c, g, x, y, n);
}

Pool2d pool2d_max(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    const Expr element = pixel_of_maximum(op.input, w, op.unpadded, w.first_x(x) + stages.r.x,
                                          w.first_y(y) + stages.r.y);
    const Expr pixel = cast<float>(element);
    stages.folded = Func("best");
    stages.folded(c, g, x, y, n) = Float(32).min();
    const Expr best = stages.folded(c, g, x, y, n);
    stages.folded(c, g, x, y, n) = select(pixel > best || is_nan_by_bits(element), pixel, best);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.folded(c, g, x, y, n));
    return stages;
}

Pool2d pool2d_average(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    const Func image =
        op.unpadded ? in_f32(op.input) : with_zeros_around(op.input, w.width, w.height, false);
    stages.folded = Func("sum");
    stages.folded(c, g, x, y, n) +=
        image(c, g, w.first_x(x) + stages.r.x, w.first_y(y) + stages.r.y, n);
    const Expr pixels = op.unpadded ? cast<float>(w.kernel_x * w.kernel_y) : w.pixels(x, y);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.folded(c, g, x, y, n) / pixels);
    return stages;
}

}  // namespace hk::generators
