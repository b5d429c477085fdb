#include "generators/conv2d/conv2d_columns.h"

#include "generators/conv2d/finish.h"

using namespace Halide;

namespace hk::generators {

namespace {

// What `stages` has of tiles that begin at column `first` of a row.
Conv2dColumnSums sum_channels(const Conv2dOperands &op, const Func &packed, const Expr &first,
                              const Conv2dColumns &stages, const std::string &name) {
    const Var &tile = stages.tile;
    const RDom d(0, op.channels, "r");
    Conv2dColumnSums to;
    to.channel = d.x;
    to.sum = Func(name);
    to.sum(k, g, x, tile, y, n) = stages.start(k, g);
    to.sum(k, g, x, tile, y, n) += packed(k % kFilterBlock, d.x, 0, 0, k / kFilterBlock, g) *
                                   cast<float>(op.input(d.x, g, first + x, y, n));
    to.activated = Func(name + "_activated");
    to.activated(k, g, x, tile, y, n) =
        finished_sum(op, to.sum(k, g, x, tile, y, n), {k, g, first + x, y, n});
    return to;
}

}  // namespace

Conv2dColumns conv2d_columns(const Conv2dOperands &op, const Conv2dLayout &layout,
                             const ColumnTiles &tiles, const Expr &twice) {
    Conv2dColumns stages;
    Func packed = op.packed;
    if (!packed.defined()) {
        stages.packed = packed = Func("packed");
        packed(stages.ki, c, s, r, stages.ko, g) =
            packed_filter(op.weight, op.filters, stages.ko * kFilterBlock + stages.ki, g);
    }
    stages.start = sum_start(op);
    stages.output = Func("result");
    stages.output(layout.image_arguments(k)) = undef(op.type);
    const auto store = [&](const Expr &column, const Conv2dColumnSums &of) {
        stages.output(layout.in_order({k, g, column, y, n})) =
            cast(op.type, of.activated(k, g, of.place.x, of.place.y, y, n));
    };

    const Expr count = op.out_w / tiles.whole, end = count * tiles.whole;
    stages.whole = sum_channels(op, packed, stages.tile * tiles.whole, stages, "sum");
    stages.whole.place = RDom(0, tiles.whole, 0, count, "whole");
    store(stages.whole.place.y * tiles.whole + stages.whole.place.x, stages.whole);

    const auto first = [&](const Expr &tile) { return op.out_w - (tile + 1) * tiles.rest; };
    stages.rest = sum_channels(op, packed, first(stages.tile), stages, "rest_sum");
    RDom &d = stages.rest.place;
    d = RDom(0, tiles.rest, 0, (op.out_w - end + tiles.rest - 1) / tiles.rest, "rest");
    const Expr column = first(d.y) + d.x;
    d.where(twice || column >= end);
    store(max(column, 0), stages.rest);
    return stages;
}

}  // namespace hk::generators
