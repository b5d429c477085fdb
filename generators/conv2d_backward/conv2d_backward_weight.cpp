#include "generators/conv2d_backward/conv2d_backward_weight.h"

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

const Range kAll = {Expr(), Expr()};

// An image that is not read past its channels and groups, nor past its edges where they are given.
Func read_inside(const Func &image, const Expr &channels, const Expr &groups, const Expr &width,
                 const Expr &height) {
    const auto inside = [](const Var &v, const Expr &size) {
        return size.defined() ? promised_within(v, size) : Expr(v);
    };
    Func value("value");
    value(c, g, x, y, n) =
        image(inside(c, channels), inside(g, groups), inside(x, width), inside(y, height), n);
    return value;
}

void read_operands(const Conv2dBackwardWeightOperands &op, const WeightTiles &tiles,
                   Conv2dBackwardWeight &stages) {
    if (tiles.lanes > 1) {
        stages.padded = copied_rows(op.input, op.width, op.height, kCopiedColumns, stages.rows);
        stages.gradient = in_f32(op.output_gradient);
        return;
    }
    if (tiles.transposed) {
        stages.input_tiles.groups = stages.gradient_tiles.groups = tiles.groups;
        stages.padded =
            transposed_groups(op.input, op.groups, op.width, op.height, stages.input_tiles);
        stages.gradient = transposed_groups(op.output_gradient, op.groups, op.out_w, op.out_h,
                                            stages.gradient_tiles, false);
        return;
    }
    Func input = in_f32(op.input), gradient = in_f32(op.output_gradient), inside;
    if (tiles.exact) {
        stages.padded =
            tiles.inside
                ? read_inside(input, op.channels, op.groups, op.width, op.height)
                : with_zeros_around(read_inside(input, op.channels, op.groups, Expr(), Expr()),
                                    op.width, op.height, false);
        inside = read_inside(gradient, op.filters, op.groups, op.out_w, op.out_h);
    } else {
        if (tiles.past_ends) input = with_zeros_past_ends(input, op.channels, op.groups);
        stages.padded = with_zeros_around(input, op.width, op.height, false);
        // Where a tile ends past the last column or row, something is read there, and not used.
        inside = BoundaryConditions::repeat_edge(
            gradient, Region{kAll, kAll, {0, op.out_w}, {0, op.out_h}, kAll});
        if (tiles.past_ends) inside = with_zeros_past_ends(inside, op.filters, op.groups);
    }
    stages.gradient = Func("gradient");
    stages.gradient(k, g, x, y, n) = inside(k, g, x, y, n);
}

// The first pixel of a step.
struct Step {
    Expr left, top, image;
};

// A tile's sum so far with the next product.
Expr with_product(const Conv2dBackwardWeightOperands &op, const WeightTiles &size,
                  Conv2dBackwardWeight &stages, const Expr &so_far, const Step &step) {
    RDom &p = stages.pixel;
    const auto &[left, top, image] = step;
    const auto with = [&](const Expr &column, const Expr &row) {
        return so_far +
               stages.gradient(k, g, column, row, image) *
                   stages.padded(c, g, column * op.stride_x + s * op.dilation_x - op.padding_left,
                                 row * op.stride_y + r * op.dilation_y - op.padding_top, image);
    };
    // Past the last column and row the sum stays: a product with zero may be no number.
    if (size.lanes == 1) {
        const Expr column = left + p.x, sum = with(column, top);
        if (size.step > 1) return select(column < op.out_w, likely(sum), so_far);
        if (!size.whole) p.where(column < op.out_w);
        return sum;
    }
    // The last vectors and rows begin before the end of those before.
    const Expr last_left = op.out_w - size.lanes, last_top = op.out_h - size.step;
    const Expr column = min(left, last_left) + stages.lane, row = min(top, last_top) + p.x;
    const Expr all = with(column, row);
    const Expr rows = select(top <= last_top, likely(all), select(row >= top, all, so_far));
    return select(left <= last_left, likely(rows), select(column >= left, rows, so_far));
}

}  // namespace

Func result(const Conv2dBackwardWeightOperands &op, const Expr &sum) {
    Func output("result");
    // Not accumulated(): no device runs this, schedules have a case of its own for what is not
    // added to, and a condition makes adding to a small filter of nchw 1.2 times as slow.
    output(c, s, r, k, g) =
        cast(op.type, select(op.accumulate, cast<float>(op.previous(c, s, r, k, g)) + sum, sum));
    return output;
}

Conv2dBackwardWeight conv2d_backward_weight(const Conv2dBackwardWeightOperands &op,
                                            const WeightTiles &size) {
    Conv2dBackwardWeight stages;
    const Var &lane = stages.lane, &tx = stages.tx, &ty = stages.ty;
    read_operands(op, size, stages);

    const bool of_columns = size.lanes > 1;
    const int together = size.lanes * (of_columns ? 1 : size.step);
    const int rows_together = of_columns ? size.step : 1;
    const Expr tiles_x = size.whole ? Expr(1) : ceil_div(op.out_w, size.pixels);
    const Expr steps = ceil_div(ceil_div(op.out_w, tiles_x), together), columns = steps * together;
    const Expr rows = ceil_div(op.out_h, rows_together);
    const Expr tiles_y =
        size.whole ? Expr(1) : ceil_div(rows, max(size.pixels / columns / rows_together, 1));
    const Expr blocks = ceil_div(rows, tiles_y);
    const Expr images = size.whole ? op.batch : Expr(1);
    stages.pixel = RDom(0, size.step, 0, steps, 0, blocks, 0, images, "pixel");
    RDom &p = stages.pixel;
    const Expr left = tx * columns + p.y * together, top = (ty * blocks + p.z) * rows_together;
    const Expr image = size.whole ? Expr(p.w) : Expr(n);
    if (!size.whole) p.where(top < op.out_h);
    stages.tile_sum = Func("tile");
    stages.tile_sum(lane, c, s, r, k, g, tx, ty, n) = 0.f;
    stages.tile_sum(lane, c, s, r, k, g, tx, ty, n) = with_product(
        op, size, stages, stages.tile_sum(lane, c, s, r, k, g, tx, ty, n), {left, top, image});

    if (size.whole) {
        stages.folded = Func("folded");
        stages.folded(c, s, r, k, g) =
            tree_sum(size.lanes, [&](int l) { return stages.tile_sum(l, c, s, r, k, g, 0, 0, 0); });
        stages.output = result(op, stages.folded(c, s, r, k, g));
        return stages;
    }
    stages.of = RDom(0, tiles_x, 0, tiles_y, 0, op.batch, "of");
    const RDom &of = stages.of;
    stages.sum = Func("sum");
    stages.sum(lane, c, s, r, k, g) = 0.f;
    stages.sum(lane, c, s, r, k, g) += stages.tile_sum(lane, c, s, r, k, g, of.x, of.y, of.z);
    stages.folded = Func("folded");
    stages.folded(c, s, r, k, g) =
        tree_sum(size.lanes, [&](int l) { return stages.sum(l, c, s, r, k, g); });
    stages.output = result(op, stages.folded(c, s, r, k, g));
    return stages;
}

}  // namespace hk::generators
