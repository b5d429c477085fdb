#include "generators/conv2d/conv2d_columns.h"

#include "generators/conv2d/finish.h"

using namespace Halide;

namespace hk::generators {

namespace {

class Columns {
public:
    Conv2dColumns stages;

    Columns(const Conv2dOperands &op, const Conv2dLayout &layout, const ColumnTiles &tiles,
            const Expr &twice)
        : op_(op), layout_(layout), tiles_(tiles), twice_(twice) {
        stages.start = sum_start(op);
        stages.filters = op.filters;
        stages.output = Func("result");
        stages.output(layout.image_arguments(k)) = undef(op.type);
    }

    // The columns from `begin` to `end`, in tiles that end there.
    Conv2dColumnSums tiles_before(const Expr &end, const Expr &begin, int size, bool packs,
                                  const std::string &name) {
        const auto first = [&](const Expr &tile) {
            return max(likely(end - (tile + 1) * size), 0);
        };
        Conv2dColumnSums to = sum({name, size, packs, first});
        to.place = RDom(0, size, 0, ceil_div(end - begin, size), name);
        const Expr column = first(to.place.y) + to.place.x;
        to.place.where(twice_ || (column >= begin && column < end - to.place.y * size));
        store(column, to);
        return to;
    }

    Conv2dColumnSums whole_tiles(const Expr &count, int size, const std::string &name) {
        const auto first = [&](const Expr &tile) { return tile * size; };
        Conv2dColumnSums to = sum({name, size, true, first});
        to.place = RDom(0, size, 0, count, name);
        store(first(to.place.y) + to.place.x, to);
        return to;
    }

    // The last one may begin in the one before it, and ends where the row does.
    Conv2dColumnSums overlapping_tiles(const Expr &count, int size, const std::string &name) {
        const auto first = [&](const Expr &tile) {
            return min(likely(tile * size), op_.out_w - size);
        };
        Conv2dColumnSums to = sum({name, size, true, first});
        to.place = RDom(0, size, 0, count, name);
        const Expr column = first(to.place.y) + to.place.x;
        to.place.where(twice_ || column >= to.place.y * size);
        store(column, to);
        return to;
    }

private:
    const Conv2dOperands &op_;
    const Conv2dLayout &layout_;
    const ColumnTiles tiles_;
    const Expr twice_;

    struct Tiles {
        std::string name;
        int size;  // columns
        bool packs;
        std::function<Expr(const Expr &tile)> first;  // column
    };

    // The weight of k. A schedule's last block of filters may reach past the last of them.
    Expr factor(const Tiles &tiles, Conv2dColumnSums &to) const {
        const RDom &d = to.terms;
        const Expr block = min(likely(k / kFilterBlock), (op_.filters - 1) / kFilterBlock);
        if (op_.packed.defined()) return op_.packed(k % kFilterBlock, d.x, d.y, d.z, block, g);
        const Func weight = with_zeros_past_filters(op_.weight, op_.filters);
        if (!tiles.packs) return weight(d.x, d.y, d.z, k, g);
        to.packed = Func(tiles.name + "_packed");
        to.packed(stages.ki, c, s, r, stages.ko, g) =
            weight(c, s, r, stages.ko * kFilterBlock + stages.ki, g);
        return to.packed(k % kFilterBlock, d.x, d.y, d.z, block, g);
    }

    Expr input_x(const Expr &column, const Expr &s) const {
        return column * op_.stride_x + s * op_.dilation_x - op_.padding_left;
    }
    Expr input_y(const Expr &row, const Expr &r) const {
        return row * op_.stride_y + r * op_.dilation_y - op_.padding_top;
    }

    // Rows with zeros around them: of those that a tap reads, the vectors of columns from lo to hi.
    void pad_rows(const Expr &lo, const Expr &hi, const Var &panel, Conv2dColumnSums &to) const {
        const int lanes = tiles_.vector;
        to.ends = Func("ends");
        to.ends(panel) = Tuple(lo, hi);
        to.elements = RDom(0, op_.width, "elements");
        const RVar column = to.elements.x;
        to.elements.where(y >= 0 && y < op_.height);
        to.elements.where((y + op_.padding_top) % op_.stride_y <=
                          (op_.kernel_h - 1) * op_.dilation_y);
        to.elements.where(column / lanes * lanes + lanes > to.ends(panel)[0] &&
                          column / lanes * lanes <= to.ends(panel)[1]);
        to.padded = Func("padded");
        to.padded(c, g, x, y, panel, n) = 0.f;
        to.padded(c, g, column, y, panel, n) =
            op_.input(c, g, column, clamp(y, 0, op_.height - 1), n);
    }

    // A panel's columns of the line: vectors of rows, each followed by the next row, which is
    // stored later, over what the vector has of columns past its row.
    void copy_rows(const Tiles &tiles, const Var &panel, Conv2dColumnSums &to) const {
        const int lanes = tiles_.vector;
        const int size = tiles.size * tiles_.panel;
        const Expr first = tiles.first(panel * tiles_.panel);
        const Expr columns = op_.columns.value, first_row = first / columns,
                   last = min(first + size, op_.out_w) - 1, one_row = first_row == last / columns;
        pad_rows(input_x(select(one_row, first % columns, 0), 0),
                 input_x(select(one_row, last % columns, columns - 1), op_.kernel_w - 1), panel,
                 to);
        to.rows =
            RDom(0, lanes, 0, ceil_div(columns, lanes), 0, ceil_div(size - 1, columns) + 1, "rows");
        const RDom &d = to.rows;
        const Expr column = d.y * lanes + d.x, row = first_row + d.z;
        const Expr vector = d.y * lanes + d.z * columns - first % columns;
        to.rows.where(row <= last / columns);
        to.rows.where(vector > -lanes && vector < size);
        to.columns_of_panel = size;
        to.panel(x, c, s, r, g, panel, n) = undef<float>();
        to.panel(unsafe_promise_clamped(vector, 1 - lanes, size - 1) + d.x, c, s, r, g, panel, n) =
            to.padded(c, g, input_x(column, s), input_y(row, r), panel, n);
    }

    // What column x of a tile is multiplied with.
    Expr term(const Tiles &tiles, Conv2dColumnSums &to) const {
        const Expr column = tiles.first(stages.tile) + x;
        if (tiles_.panel == 0) return cast<float>(op_.input(c, g, column, y, n));
        const Expr columns = op_.columns.value;
        if (!tiles.packs)
            return with_zeros_around(op_.input, op_.width, op_.height, op_.pointwise)(
                c, g, input_x(column % columns, s), input_y(column / columns, r), n);
        const Var panel("panel");
        to.panel = Func(tiles.name + "_panel");
        copy_rows(tiles, panel, to);
        const Expr of_panel = stages.tile / tiles_.panel;
        const Expr offset =
            unsafe_promise_clamped(tiles.first(stages.tile) - tiles.first(of_panel * tiles_.panel),
                                   0, (tiles_.panel - 1) * tiles.size);
        return to.panel(offset + x, c, s, r, g, of_panel, n);
    }

    Conv2dColumnSums sum(const Tiles &tiles) const {
        const Var &tile = stages.tile;
        Conv2dColumnSums to;
        to.terms = RDom(0, op_.channels, 0, op_.kernel_w, 0, op_.kernel_h, "r");
        to.sum = Func(tiles.name + "_sum");
        to.sum(k, g, x, tile, y, n) = stages.start(k, g);
        to.copied = Func(tiles.name + "_copied");
        to.copied(x, c, s, r, g, tile, y, n) = term(tiles, to);
        to.sum(k, g, x, tile, y, n) +=
            factor(tiles, to) * to.copied(x, to.terms.x, to.terms.y, to.terms.z, g, tile, y, n);
        to.activated = Func(tiles.name + "_activated");
        to.activated(k, g, x, tile, y, n) =
            finished_sum(op_, to.sum(k, g, x, tile, y, n), {k, g, tiles.first(tile) + x, y, n});
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
    Columns columns(op, layout, tiles, twice);
    Conv2dColumns &stages = columns.stages;
    const Expr whole = op.out_w / tiles.whole, end = whole * tiles.whole;
    if (tiles.overlap) {
        // More single columns take longer than a tile.
        const Expr all = select(op.out_w - end > 2 * tiles.single, whole + 1, whole);
        stages.whole = columns.overlapping_tiles(all, tiles.whole, "whole");
        const Expr begin = min(all * tiles.whole, op.out_w);
        stages.singles = columns.tiles_before(op.out_w, begin, tiles.single, false, "singles");
        return stages;
    }
    // Half a vector is as much as all of it by single columns.
    const Expr vectors = (op.out_w - end + tiles.vector / 2 - 1) / tiles.vector;
    const Expr vectors_end = min(end + vectors * tiles.vector, op.out_w);
    stages.whole = columns.whole_tiles(whole, tiles.whole, "whole");
    stages.vectors = columns.tiles_before(vectors_end, end, tiles.vector, true, "vectors");
    stages.singles = columns.tiles_before(op.out_w, vectors_end, tiles.single, false, "singles");
    return stages;
}

}  // namespace hk::generators
