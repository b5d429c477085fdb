#include "generators/conv2d_backward_weight.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr ceil_div(const Expr &value, const Expr &divisor) { return (value + divisor - 1) / divisor; }

constexpr int kSquare = 8;

// image(c, g, x, y, n) by way of `stages`; outside of it, what it has in a square at its edge.
Func transposed(const Func &image, const Expr &width, const Expr &height, const Expr &channels,
                bool groups, TransposedImage &stages) {
    const Var channel("channel"), other("other"), xb("xb"), cb("cb");
    stages.lines = Func("lines");
    stages.lines(x, channel, other, y, n) = cast<float>(
        groups ? image(other, channel, x, y, n) : image(channel, other, x, y, n));
    Func rows("rows");
    rows(element, row, xb, cb, other, y, n) = stages.lines(
        unsafe_promise_clamped(xb * kSquare + element, 0, width - 1),
        unsafe_promise_clamped(cb * kSquare + row, 0, channels - 1), other, y, n);
    stages.steps = transpose(rows, kSquare, {xb, cb, other, y, n});
    Func result("transposed");
    const Expr v = groups ? g : c, rest = groups ? c : g;
    result(c, g, x, y, n) = stages.steps.back()(
        x % kSquare * kSquare + v % kSquare, 0, clamp(x / kSquare, 0, (width - 1) / kSquare),
        v / kSquare, rest, clamp(y, 0, height - 1), n);
    return result;
}

Range none() { return {Expr(), Expr()}; }

// The output's gradient. Past the last column and row, where a tile may end, it is there to be
// read, not used; past the last filter and group it is zero.
Func without_end(const Conv2dBackwardWeightOperands &op, bool past_ends, bool transposed) {
    Func value("value");
    value(k, g, x, y, n) = cast<float>(op.output_gradient(k, g, x, y, n));
    Func edge = BoundaryConditions::repeat_edge(
        value, Region{none(), none(), transposed ? none() : Range{0, op.out_w}, {0, op.out_h}, none()});
    if (past_ends) {
        edge = BoundaryConditions::constant_exterior(
            edge, 0.f, Region{{0, op.filters}, {0, op.groups}, none(), none(), none()});
    }
    Func gradient("gradient");
    gradient(k, g, x, y, n) = edge(k, g, x, y, n);
    return gradient;
}

Func zeros(const Func &f, const Expr &width, const Expr &height) {
    Func padded("padded");
    const Expr value = select(x >= 0 && x < width, likely(f(c, g, x, y, n)), 0.f);
    padded(c, g, x, y, n) = select(y >= 0 && y < height, likely(value), 0.f);
    return padded;
}

Func pad(const Conv2dBackwardWeightOperands &op, bool past_ends) {
    if (!past_ends) return with_zeros_around(op.input, op.width, op.height, false);
    const Func inside = BoundaryConditions::constant_exterior(
        op.input, cast(op.type, 0),
        Region{{0, op.channels}, {0, op.groups}, none(), none(), none()});
    return with_zeros_around(inside, op.width, op.height, false);
}

}  // namespace

Conv2dBackwardWeight conv2d_backward_weight(const Conv2dBackwardWeightOperands &op,
                                            const WeightTiles &size) {
    Conv2dBackwardWeight stages;
    const Var &lane = stages.lane, &tx = stages.tx, &ty = stages.ty;
    Conv2dBackwardWeightOperands in = op;
    if (size.transposed) {
        const bool depthwise = is_const_one(op.channels) && is_const_one(op.filters);
        stages.padded = zeros(transposed(op.input, op.width, op.height, depthwise ? op.groups : op.channels, depthwise, stages.input), op.width, op.height);
        const Func t = transposed(op.output_gradient, op.out_w, op.out_h, depthwise ? op.groups : op.filters, depthwise, stages.output_gradient);
        stages.gradient = Func("gradient");
        stages.gradient(k, g, x, y, n) = t(k, g, x, y, n);
    } else {
        stages.padded = pad(in, size.past_ends);
        stages.gradient = without_end(in, size.past_ends, false);
    }

    const int together = size.lanes * size.step;
    const Expr tiles_x = ceil_div(op.out_w, size.pixels);
    const Expr steps = ceil_div(ceil_div(op.out_w, tiles_x), together), columns = steps * together;
    const Expr tiles_y = ceil_div(op.out_h, max(size.pixels / columns, 1));
    const Expr rows = ceil_div(op.out_h, tiles_y);
    stages.pixel = RDom(0, size.step, 0, steps, 0, rows, "pixel");
    RDom &p = stages.pixel;
    const Expr column = tx * columns + (p.y * size.step + p.x) * size.lanes + lane;
    const Expr row = ty * rows + p.z;
    p.where(row < op.out_h);
    const Expr product =
        stages.gradient(k, g, column, row, n) *
        stages.padded(c, g, column * op.stride_x + s * op.dilation_x - op.padding_left,
                      row * op.stride_y + r * op.dilation_y - op.padding_top, n);
    stages.tile = Func("tile");
    stages.tile(lane, c, s, r, k, g, tx, ty, n) = 0.f;
    const Expr so_far = stages.tile(lane, c, s, r, k, g, tx, ty, n);
    stages.tile(lane, c, s, r, k, g, tx, ty, n) =
        together == 1 ? so_far + product
                      : select(column < op.out_w, likely(so_far + product), so_far);

    stages.of = RDom(0, tiles_x, 0, tiles_y, 0, op.batch, "of");
    const RDom &of = stages.of;
    stages.sum = Func("sum");
    stages.sum(lane, c, s, r, k, g) = 0.f;
    stages.sum(lane, c, s, r, k, g) += stages.tile(lane, c, s, r, k, g, of.x, of.y, of.z);
    stages.folded = Func("folded");
    stages.folded(c, s, r, k, g) =
        tree_sum(size.lanes, [&](int l) { return stages.sum(l, c, s, r, k, g); });
    stages.output = Func("result");
    stages.output(c, s, r, k, g) = accumulated(op.type, stages.folded(c, s, r, k, g),
                                               op.previous(c, s, r, k, g), op.accumulate);
    return stages;
}

}  // namespace hk::generators
