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

namespace {

Expr larger(const Expr &best, const Expr &element) {
    const Expr value = cast<float>(element);
    return select(value > best || is_nan_by_bits(element), value, best);
}

void finish_maximum(const Pool2dOperands &op, Pool2d &stages) {
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.folded(c, g, x, y, n));
}

void finish_average(const Pool2dOperands &op, Pool2d &stages) {
    const PoolWindows &w = op.windows;
    const Expr pixels = op.unpadded ? cast<float>(w.kernel_x * w.kernel_y) : w.pixels(x, y);
    stages.output = Func("result");
    stages.output(c, g, x, y, n) = cast(op.type, stages.folded(c, g, x, y, n) / pixels);
}

// The row of the input that columns.y stands for in the output's row y.
Expr row_of(const Pool2dOperands &op, const RDom &columns) {
    return op.windows.first_y(y) + columns.y;
}

Expr clamped_row(const Pool2dOperands &op, const RDom &columns) {
    return clamp(row_of(op, columns), 0, op.windows.height - 1);
}

}  // namespace

Pool2d pool2d_max(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.r = RDom(0, w.kernel_x, 0, w.kernel_y, "r");
    stages.folded = Func("best");
    stages.folded(c, g, x, y, n) = Float(32).min();
    stages.folded(c, g, x, y, n) =
        larger(stages.folded(c, g, x, y, n),
               pixel_of_maximum(op.input, w, op.unpadded, w.first_x(x) + stages.r.x,
                                w.first_y(y) + stages.r.y));
    finish_maximum(op, stages);
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
    finish_average(op, stages);
    return stages;
}

Pool2d pool2d_max_by_rows(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.columns = RDom(0, w.width, 0, w.kernel_y, "columns");
    const RVar &at = stages.columns.x;
    stages.column = Func("best_of_column");
    stages.column(c, g, x, y, n) = Float(32).min();
    stages.column(c, g, at, y, n) = larger(stages.column(c, g, at, y, n),
                                           op.input(c, g, at, clamped_row(op, stages.columns), n));
    stages.r = RDom(0, w.kernel_x, 0, 1, "r");
    stages.folded = Func("best");
    stages.folded(c, g, x, y, n) = Float(32).min();
    stages.folded(c, g, x, y, n) =
        larger(stages.folded(c, g, x, y, n), stages.column(c, g, w.first_x(x) + stages.r.x, y, n));
    finish_maximum(op, stages);
    return stages;
}

Pool2d pool2d_average_by_rows(const Pool2dOperands &op) {
    const PoolWindows &w = op.windows;
    Pool2d stages;
    stages.columns = RDom(0, w.width, 0, w.kernel_y, "columns");
    const RVar &at = stages.columns.x;
    const Expr row = row_of(op, stages.columns);
    stages.column = Func("sum_of_column");
    stages.column(c, g, x, y, n) = 0.f;
    stages.column(c, g, at, y, n) +=
        select(row >= 0 && row < w.height,
               cast<float>(op.input(c, g, at, clamped_row(op, stages.columns), n)), 0.f);
    stages.r = RDom(0, w.kernel_x, 0, 1, "r");
    stages.folded = Func("sum");
    stages.folded(c, g, x, y, n) += stages.column(c, g, w.first_x(x) + stages.r.x, y, n);
    finish_average(op, stages);
    return stages;
}

}  // namespace hk::generators
