#include "generators/conv2d/conv2d_columns.h"

#include "generators/conv2d/finish.h"

using namespace Halide;

namespace hk::generators {

namespace {

class Columns {
public:
    Conv2dColumns stages;

    Columns(const Conv2dOperands &op, const Conv2dLayout &layout, const Expr &twice)
        : op_(op), layout_(layout), twice_(twice) {
        stages.start = sum_start(op);
        stages.output = Func("result");
        stages.output(layout.image_arguments(k)) = undef(op.type);
    }

    // The columns from `begin` to `end`, in tiles of `size` that end there.
    Conv2dColumnSums tiles_before(const Expr &end, const Expr &begin, int size, bool packs,
                                  const std::string &name) {
        const auto first = [&](const Expr &tile) {
            return max(likely(end - (tile + 1) * size), 0);
        };
        Conv2dColumnSums to = sum(first(stages.tile), packs, name);
        to.place = RDom(0, size, 0, (end - begin + size - 1) / size, name);
        const Expr column = first(to.place.y) + to.place.x;
        to.place.where(twice_ || (column >= begin && column < end - to.place.y * size));
        store(column, to);
        return to;
    }

    Conv2dColumnSums whole_tiles(const Expr &count, int size, const std::string &name) {
        Conv2dColumnSums to = sum(stages.tile * size, true, name);
        to.place = RDom(0, size, 0, count, name);
        store(to.place.y * size + to.place.x, to);
        return to;
    }

private:
    const Conv2dOperands &op_;
    const Conv2dLayout &layout_;
    const Expr twice_;

    // The weight of k. A schedule's last block of filters may reach past the last of them.
    Expr factor(const Expr &channel, bool packs, const std::string &name,
                Conv2dColumnSums &to) const {
        const Expr block = min(likely(k / kFilterBlock), (op_.filters - 1) / kFilterBlock);
        if (op_.packed.defined()) return op_.packed(k % kFilterBlock, channel, 0, 0, block, g);
        const Func weight = with_zeros_past_filters(op_.weight, op_.filters);
        if (!packs) return weight(channel, 0, 0, k, g);
        to.packed = Func(name + "_packed");
        to.packed(stages.ki, c, stages.ko, g) =
            weight(c, 0, 0, stages.ko * kFilterBlock + stages.ki, g);
        return to.packed(k % kFilterBlock, channel, block, g);
    }

    // `first`: a tile's first column.
    Conv2dColumnSums sum(const Expr &first, bool packs, const std::string &name) {
        const Var &tile = stages.tile;
        const RDom d(0, op_.channels, "r");
        Conv2dColumnSums to;
        to.channel = d.x;
        to.sum = Func(name + "_sum");
        to.sum(k, g, x, tile, y, n) = stages.start(k, g);
        to.sum(k, g, x, tile, y, n) +=
            factor(d.x, packs, name, to) * cast<float>(op_.input(d.x, g, first + x, y, n));
        to.activated = Func(name + "_activated");
        to.activated(k, g, x, tile, y, n) =
            finished_sum(op_, to.sum(k, g, x, tile, y, n), {k, g, first + x, y, n});
        return to;
    }

    void store(const Expr &column, const Conv2dColumnSums &of) {
        stages.output(layout_.in_order({k, g, column, y, n})) =
            cast(op_.type, of.activated(k, g, of.place.x, of.place.y, y, n));
    }
};

}  // namespace

Conv2dColumns conv2d_columns(const Conv2dOperands &op, const Conv2dLayout &layout,
                             const ColumnTiles &tiles, const Expr &twice) {
    Columns columns(op, layout, twice);
    const Expr whole = op.out_w / tiles.whole, end = whole * tiles.whole;
    // Half a vector is as much as all of it by single columns.
    const Expr vectors = (op.out_w - end + tiles.vector / 2 - 1) / tiles.vector;
    const Expr vectors_end = min(end + vectors * tiles.vector, op.out_w);
    Conv2dColumns &stages = columns.stages;
    stages.whole = columns.whole_tiles(whole, tiles.whole, "whole");
    stages.vectors = columns.tiles_before(vectors_end, end, tiles.vector, true, "vectors");
    stages.singles = columns.tiles_before(op.out_w, vectors_end, tiles.single, false, "singles");
    return columns.stages;
}

}  // namespace hk::generators
