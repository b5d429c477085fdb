#include "generators/conv2d_backward/conv2d_backward_weight_columns.h"

#include <algorithm>

#include "generators/accumulated.h"

using namespace Halide;

namespace hk::generators {

namespace {

Expr within(const Expr &place, const Expr &size) { return place >= 0 && place < size; }

// The element of a plane, of a row that is there, where a column is `inside`, else zero.
Expr read(const Func &image, const Expr &inside, const Expr &column, const Expr &row,
          const Expr &width, const Expr &height) {
    const Expr element =
        image(0, g, promised_within(column, width), promised_within(row, height), n);
    return select(inside, cast<float>(loaded_if(inside, element)), 0.f);
}

void sum_tiles(const Conv2dBackwardWeightOperands &op, const ColumnTiles &size, const Expr &tiles,
               Conv2dBackwardWeightColumns &stages) {
    const Var &lane = stages.lane, &tap = stages.tap, &block = stages.block;
    stages.of = RDom(0, op.kernel_w, 0, op.kernel_h, 0, tiles, 0, op.batch, 0, size.groups, "of");
    RDom &of = stages.of;
    const Expr group = block * size.groups + of[4];
    of.where(group < op.groups);
    const Expr place = of.x + op.kernel_w * (of.y + op.kernel_h * of[4]);
    stages.sums = Func("sums");
    stages.sums(lane, tap, block) = undef<float>();  // no pass over memory that only clears it
    stages.sums(lane, place, block) =
        select(of.z > 0 || of.w > 0, stages.sums(lane, place, block), 0.f) +
        stages.tile_sum(lane, of.x, of.y, promised_within(group, op.groups), of.z, of.w);
    const int folded = std::min(size.lanes, kFoldedLanes);
    stages.halves = Func("halves");
    stages.halves(lane, tap, block) = tree_sum(
        size.lanes / folded, [&](int i) { return stages.sums(i * folded + lane, tap, block); });
    stages.turned = Func("turned");
    stages.turned(tap, lane, block) = stages.halves(lane, tap, block);
    stages.folded = Func("folded");
    stages.folded(tap, block) =
        tree_sum(folded, [&](int l) { return stages.turned(tap, l, block); });
    stages.output = Func("result");
    stages.output(c, s, r, k, g) = accumulated(
        op.type,
        stages.folded(s + op.kernel_w * (r + op.kernel_h * (g % size.groups)), g / size.groups),
        op.previous(c, s, r, k, g), op.accumulate);
}

}  // namespace

Conv2dBackwardWeightColumns conv2d_backward_weight_columns(const Conv2dBackwardWeightOperands &op,
                                                           const ColumnTiles &size, int stride,
                                                           int kernel_w) {
    Conv2dBackwardWeightColumns stages;
    const Var &lane = stages.lane, &part = stages.part, &vector = stages.vector;
    const Var &tile = stages.tile, &shift = stages.shift;
    const bool dense = stride == 1;
    const int of_vector = size.columns(stride, kernel_w);
    const Expr first = vector * of_vector, column = first + lane - shift;
    const Expr x_in = first * stride + part + lane - op.padding_left;
    stages.is_column = Func("is_column");
    stages.is_column(lane, shift, vector) =
        dense ? column < op.out_w : within(lane - shift, of_vector) && column < op.out_w;
    stages.is_inside = Func("is_inside");
    stages.is_inside(lane, part, vector) =
        dense ? first + lane < op.out_w && within(x_in, op.width) : within(x_in, op.width);
    stages.columns = Func("columns");
    stages.columns(lane, shift, vector) = stages.is_column(lane, shift, vector);
    stages.input = Func("met");
    // Of a stride rows of all taps are read, before those that are not there are left out.
    stages.input(lane, part, vector, y, g, n) =
        read(op.input, stages.is_inside(lane, part, vector), x_in,
             dense ? Expr(y) : clamp(likely(y), 0, op.height - 1), op.width, op.height);

    const Expr height = dense ? op.height : op.out_h;
    const Expr tiles = ceil_div(height, max(size.pixels / op.out_w, 1));
    const Expr rows = ceil_div(height, tiles);
    stages.pixel = RDom(0, rows, 0, ceil_div(op.out_w, of_vector), "pixel");
    RDom &pixel = stages.pixel;
    const Expr place = tile * rows + pixel.x, from = r * op.dilation_y - op.padding_top;
    const Expr y_out = dense ? place - from : place, y_in = dense ? place : place * stride + from;
    const Expr &row = dense ? y_out : y_in;
    pixel.where(place < height);
    pixel.where(likely(row >= 0) && likely(row < (dense ? op.out_h : op.height)));
    const Expr tap = s * op.dilation_x, by = dense ? Expr(0) : tap / stride;
    const Expr is_column = stages.columns(lane, by, pixel.y);
    stages.gradient = Func("gradient");
    stages.gradient(lane, shift, vector, y, g, n) = read(
        op.output_gradient, stages.columns(lane, shift, vector), column, y, op.out_w, op.out_h);
    const Expr gradient = stages.gradient(lane, by, pixel.y, y_out, g, n);
    // What the input has where no column is would be NaN, if it is an infinity, times zero.
    const Expr input =
        dense ? stages.input(lane, tap, pixel.y, y_in, g, n)
              : select(is_column,
                       stages.input(lane * stride + tap % stride, 0, pixel.y, y_in, g, n), 0.f);
    stages.tile_sum = Func("tile_sum");
    stages.tile_sum(lane, s, r, g, tile, n) = 0.f;
    stages.tile_sum(lane, s, r, g, tile, n) += gradient * input;
    sum_tiles(op, size, tiles, stages);
    return stages;
}

}  // namespace hk::generators
