#include "generators/conv2d/depthwise_planes.h"

#include "generators/ceil_div.h"
#include "generators/conv2d/finish.h"
#include "generators/image_layout.h"

using namespace Halide;

namespace hk::generators {

using Halide::Internal::as_const_int;
using Halide::Internal::is_const;
using Halide::Internal::simplify;

namespace {

constexpr int kGroups = kTransposedGroups;

// Where a tile of so many of `all` begins.
Expr first(const Expr &tile, int size, const Expr &all) { return min(tile * size, all - size); }

class Planes {
public:
    Planes(const Conv2dOperands &op, const Expr &pixels, const Expr &twice, const PlaneTile &tile)
        : op_(op), pixels_(pixels), twice_(twice), tile_(tile) {}

    Conv2dPlanes stages;

    // Zeros left and right of the image's columns, and rows of them above and below.
    void pad() {
        stages.padded = Func("padded");
        Func &padded = stages.padded;
        padded(g, x, y, b, n) = undef<float>();
        const Expr last = (max(op_.out_w, tile_.x) - 1) * op_.stride_x +
                          (op_.kernel_w - 1) * op_.dilation_x - op_.padding_left;
        const Expr left = max(op_.padding_left, 0), right = max(last + 1 - op_.width, 0);
        stages.sides = RDom(0, left + right, "sides");
        stages.outside = RDom(0, op_.width, "outside");
        stages.outside.where(y < 0 || y >= op_.height);
        const RVar side = stages.sides.x;
        padded(g, select(side < left, side - left, op_.width + side - left), y, b, n) = 0.f;
        padded(g, stages.outside.x, y, b, n) = 0.f;
    }

    void transpose_input() {
        const Var tile("tile");
        const int columns = tile_.columns;
        Func planes("planes");
        planes(element, row, tile, b, y, n) =
            cast<float>(op_.input(0, known_group(b, row), first(tile, columns, op_.width) + element,
                                  clamp(y, 0, op_.height - 1), n));
        stages.tiles.columns = columns;
        stages.tiles.there = transpose(planes, kGroups, {tile, b, y, n});
        stages.tiles.r = RDom(0, columns, 0, ceil_div(op_.width, columns), "tile");
        RDom &t = stages.tiles.r;
        t.where(y >= 0 && y < op_.height);
        stages.padded(g, first(t.y, columns, op_.width) + t.x, y, b, n) =
            stages.tiles.there.back()(t.x * kGroups + g, 0, t.y, b, y, n);
    }

    void pack(const Expr &dense_taps) {
        stages.packed = Func("packed");
        const auto weight = [&](const Expr &tap, const Expr &place) {
            return cast<float>(
                op_.weight(0, tap % op_.kernel_w, tap / op_.kernel_w, 0, known_group(b, place)));
        };
        const Expr taps = simplify(op_.kernel_w * op_.kernel_h);
        const int columns = stages.filter.columns;
        if (!is_const(taps) || *as_const_int(taps) < columns) {
            stages.packed(g, t, b) = weight(t, g);
            return;
        }
        const Var tile("taps");
        Func rows("rows_of_taps");
        rows(element, row, tile, b) = weight(first(tile, columns, taps) + element, row);
        stages.filter.there = transpose(rows, kGroups, {tile, b});
        stages.filter.r = RDom(0, columns, 0, simplify(ceil_div(taps, columns)), "taps");
        const RDom &d = stages.filter.r;
        const Expr tap = first(d.y, columns, taps) + d.x;
        stages.packed(g, t, b) = undef<float>();
        stages.packed(g, tap, b) = select(
            dense_taps, stages.filter.there.back()(d.x * kGroups + g, 0, d.y, b), weight(tap, g));
    }

    void sum_windows() {
        stages.window_h = (op_.kernel_h - 1) * op_.dilation_y + 1;
        stages.stride_y = op_.stride_y;
        const Func bias = sum_start(op_);
        stages.start = Func("start_of_block");
        stages.start(g, b) = bias(0, known_group(b, g));
        stages.r = RDom(0, op_.kernel_w, 0, op_.kernel_h, "r");
        const RDom &d = stages.r;
        stages.sum = Func("sum");
        const Expr tap = d.y * op_.kernel_w + d.x;
        stages.sum(g, x, y, b, n) = stages.start(g, b);
        stages.sum(g, x, y, b, n) +=
            stages.packed(g, tile_.flipped ? op_.kernel_w * op_.kernel_h - 1 - tap : tap, b) *
            stages.padded(g, x * op_.stride_x + d.x * op_.dilation_x - op_.padding_left,
                          y * op_.stride_y + d.y * op_.dilation_y - op_.padding_top, b, n);
    }

    // Columns past a row narrower than a tile are where the next row comes later.
    void join_rows() {
        stages.place = RDom(0, tile_.x, 0, tile_.y, 0, ceil_div(op_.out_w, tile_.x), 0,
                            ceil_div(op_.out_h, tile_.y), "place");
        const RDom &d = stages.place;
        const Expr column = max(first(d.z, tile_.x, op_.out_w), 0) + d.x,
                   line = d.w * tile_.y + d.y;
        stages.line = Func("line");
        stages.line(g, x, b, n) = undef<float>();
        stages.line(g, line * op_.out_w + column, b, n) = stages.sum(g, column, line, b, n);
    }

    void transpose_back(const Conv2dLayout &layout) {
        const Var tile("tile_of_line");
        const int size = tile_.pixels;
        Func sums("sums");
        sums(element, row, tile, b, n) =
            stages.line(element, first_output(tile, size, pixels_) + row, b, n);
        stages.back = transpose(sums, size, {tile, b, n});
        stages.to = RDom(0, size, 0, kGroups, 0, ceil_div(pixels_, size), 0,
                         ceil_div(op_.groups, kGroups), "to");
        RDom &d = stages.to;
        const Expr at_pixel = first_output(d.z, size, pixels_) + d.x, at_group = group(d.w, d.y);
        d.where(twice_ || at_pixel < pixels_);
        d.where(twice_ || at_group < op_.groups);
        // Clamped for the bounds of what is written.
        const Expr pixel = min(at_pixel, pixels_ - 1), of_group = min(at_group, op_.groups - 1);
        const Expr value = stages.back.back()(d.y * size + d.x, 0, d.z, d.w, n);
        stages.output = Func("result");
        stages.output(layout.image_arguments(k)) = undef(op_.type);
        stages.output(layout.in_order({0, of_group, pixel, 0, n})) =
            cast(op_.type, finished_sum(op_, value, {0, of_group, pixel, 0, n}));
    }

private:
    const Conv2dOperands &op_;
    const Expr pixels_, twice_;
    const PlaneTile tile_;

    Expr first_output(const Expr &tile, int size, const Expr &all) const {
        return select(twice_, first(tile, size, all), tile * size);
    }

    Expr group(const Expr &block, const Expr &place) const {
        return first_output(block, kGroups, op_.groups) + place;
    }

    // Past the last it is that.
    Expr known_group(const Expr &block, const Expr &place) const {
        return min(group(block, place), op_.groups - 1);
    }
};

}  // namespace

Conv2dPlanes conv2d_depthwise_planes(const Conv2dOperands &op, const Conv2dLayout &layout,
                                     const Expr &pixels, const Expr &twice, const Expr &dense_taps,
                                     const PlaneTile &tile) {
    Planes planes(op, pixels, twice, tile);
    planes.pad();
    planes.transpose_input();
    planes.pack(dense_taps);
    planes.sum_windows();
    planes.join_rows();
    planes.transpose_back(layout);
    return planes.stages;
}

}  // namespace hk::generators
