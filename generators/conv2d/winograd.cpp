#include "generators/conv2d/winograd.h"

#include "generators/conv2d/finish.h"

using namespace Halide;

namespace hk::generators {

namespace {

constexpr float kA = 0.625f, kB = 1.625f;
constexpr float kA2 = kA * kA, kB2 = kB * kB;

// Where a tile lies among those of all images. Tiles past the last, which fill a block, are the
// last.
struct TilePlace {
    TilePlace(const Conv2dWinogradOperands &op, const Expr &t) {
        const Expr columns = ceil_div(op.out_w, kWinogradTile),
                   rows = ceil_div(op.out_h, kWinogradTile);
        x = t % columns * kWinogradTile;
        y = t / columns % rows * kWinogradTile;
        n = clamp(t / (columns * rows), 0, op.batch - 1);
    }

    Expr x, y, n;  // of its first output
};

void transform_input(const Conv2dWinogradOperands &op, int tiles, Conv2dWinograd &stages) {
    const Var &ci = stages.ci, &co = stages.co, &ti = stages.ti, &to = stages.to, &j = stages.j,
              &p = stages.p;
    const TilePlace tile(op, t);
    const Func padded = with_zeros_around(op.input, op.width, op.height, false);
    Func all("all_channels");
    all(c, p, q, t, g) =
        padded(c, g, tile.x + p - op.padding_left, tile.y + q - op.padding_top, tile.n);
    const Range any = {Expr(), Expr()};
    stages.patch = Func("patch");
    stages.patch(c, p, q, t, g) = BoundaryConditions::constant_exterior(
        all, 0.f, Region{{0, op.channels}, any, any, any, any})(c, p, q, t, g);

    const Expr channel = co * kWinogradChannels + ci, place = to * tiles + ti;
    stages.columns = Func("columns");
    stages.columns(ci, ti, co, i, q, to, g) =
        mux(i, winograd_input([&](int at) { return stages.patch(channel, at, q, place, g); }));
    stages.input = Func("input_transformed");
    stages.input(ci, ti, co, i, j, to, g) =
        mux(j, winograd_input([&](int at) { return stages.columns(ci, ti, co, i, at, to, g); }));
}

void multiply(const Conv2dWinogradOperands &op, Conv2dWinograd &stages) {
    const Var &ti = stages.ti, &to = stages.to, &j = stages.j;
    if (!op.packed.defined()) stages.filter = conv2d_winograd_filter(op.weight, op.filters, true);
    const Func filter = op.packed.defined() ? op.packed : stages.filter.output;
    stages.channels = RDom(0, op.channels, "channels");
    const RVar from = stages.channels.x;
    // A schedule's last block may reach past the filter's.
    const Expr block = min(k / kFilterBlock, (op.filters - 1) / kFilterBlock);
    stages.product = Func("product");
    stages.product(k, ti, i, j, to, g) = 0.f;
    stages.product(k, ti, i, j, to, g) +=
        filter(k % kFilterBlock, from, i, j, block, g) *
        stages.input(from % kWinogradChannels, ti, from / kWinogradChannels, i, j, to, g);
}

void transform_output(int tiles, Conv2dWinograd &stages) {
    const Var &j = stages.j, &u = stages.u, &v = stages.v;
    stages.rows = Func("rows");
    stages.rows(k, u, j, t, g) = mux(u, winograd_output([&](int at) {
                                         return stages.product(k, t % tiles, at, j, t / tiles, g);
                                     }));
    stages.tile = Func("tile");
    stages.tile(k, u, v, t, g) =
        mux(v, winograd_output([&](int at) { return stages.rows(k, u, at, t, g); }));
}

// An update, because its loops are those of the tiles of all images, which a pixel does not tell.
void store(const Conv2dWinogradOperands &op, const Conv2dLayout &layout, Conv2dWinograd &stages) {
    const Expr tiles =
        ceil_div(op.out_w, kWinogradTile) * ceil_div(op.out_h, kWinogradTile) * op.batch;
    stages.d = RDom(0, kWinogradTile, 0, kWinogradTile, 0, tiles, "d");
    RDom &d = stages.d;
    const Var &u = stages.u, &v = stages.v;
    const TilePlace tile(op, d.z);
    const Expr at_x = tile.x + d.x, at_y = tile.y + d.y;
    d.where(at_x < op.out_w);
    d.where(at_y < op.out_h);
    // Clamped for the bounds of what is written.
    const Expr to_x = clamp(at_x, 0, op.out_w - 1), to_y = clamp(at_y, 0, op.out_h - 1);
    stages.start = sum_start(op);
    const TilePlace of_t(op, t);
    stages.activated = Func("activated");
    stages.activated(k, u, v, t, g) = finished_sum(
        op, stages.tile(k, u, v, t, g) + stages.start(k, g),
        {k, g, clamp(of_t.x + u, 0, op.out_w - 1), clamp(of_t.y + v, 0, op.out_h - 1), of_t.n});
    Expr value = stages.activated(k, d.x, d.y, d.z, g);
    if (!layout.nhwc()) {
        const Var kb("kb");
        Func filters("filters");
        filters(element, row, v, t, kb, g) =
            stages.activated(kb * kFilterBlock + element, row, v, t, g);
        stages.back = transpose(filters, kWinogradTile, {v, t, kb, g});
        value = stages.back.back()(k % kFilterBlock * kWinogradTile + d.x, 0, d.y, d.z,
                                   k / kFilterBlock, g);
    }
    stages.output = Func("result");
    stages.output(layout.image_arguments(k)) = undef(op.type);
    stages.output(layout.in_order({k, g, to_x, to_y, tile.n})) = cast(op.type, value);
}

}  // namespace

std::vector<Expr> winograd_input(const WinogradLine &d) {
    const Expr even_a = d(4) - kB2 * d(2), odd_a = d(3) - kB2 * d(1);
    const Expr even_b = d(4) - kA2 * d(2), odd_b = d(3) - kA2 * d(1);
    return {kA2 * kB2 * d(0) - (kA2 + kB2) * d(2) + d(4),
            even_a + kA * odd_a,
            even_a - kA * odd_a,
            even_b + kB * odd_b,
            even_b - kB * odd_b,
            kA2 * kB2 * d(1) - (kA2 + kB2) * d(3) + d(5)};
}

std::vector<Expr> winograd_filter(const WinogradLine &w) {
    const float at_0 = 1 / (kA2 * kB2), at_a = 1 / (2 * kA2 * (kA2 - kB2)),
                at_b = 1 / (2 * kB2 * (kB2 - kA2));
    const Expr even_a = w(0) + kA2 * w(2), even_b = w(0) + kB2 * w(2);
    return {at_0 * w(0),
            at_a * (even_a + kA * w(1)),
            at_a * (even_a - kA * w(1)),
            at_b * (even_b + kB * w(1)),
            at_b * (even_b - kB * w(1)),
            w(2)};
}

std::vector<Expr> winograd_output(const WinogradLine &m) {
    const Expr sum_a = m(1) + m(2), difference_a = m(1) - m(2);
    const Expr sum_b = m(3) + m(4), difference_b = m(3) - m(4);
    return {m(0) + sum_a + sum_b, kA * difference_a + kB * difference_b, kA2 * sum_a + kB2 * sum_b,
            kA2 * kA * difference_a + kB2 * kB * difference_b + m(5)};
}

Conv2dWinograd conv2d_winograd(const Conv2dWinogradOperands &op, const Conv2dLayout &layout,
                               int tiles) {
    Conv2dWinograd stages;
    transform_input(op, tiles, stages);
    multiply(op, stages);
    transform_output(tiles, stages);
    store(op, layout, stages);
    return stages;
}

Conv2dWinogradFilter conv2d_winograd_filter(const Func &weight, const Expr &filters,
                                            bool neighbours) {
    Conv2dWinogradFilter stages;
    const Var &ki = stages.ki, &ko = stages.ko, &j = stages.j;
    stages.packed = Func("packed");
    const Expr filter = ko * kFilterBlock + ki;
    stages.packed(ki, c, s, r, ko, g) =
        neighbours ? with_zeros_past_filters(weight, filters)(c, s, r, filter, g)
                   : packed_filter(weight, filters, filter, g);
    stages.columns = Func("columns");
    stages.columns(ki, c, i, r, ko, g) =
        mux(i, winograd_filter([&](int at) { return stages.packed(ki, c, at, r, ko, g); }));
    stages.output = Func("transformed");
    stages.output(ki, c, i, j, ko, g) =
        mux(j, winograd_filter([&](int at) { return stages.columns(ki, c, i, at, ko, g); }));
    return stages;
}

}  // namespace hk::generators
