#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct WinogradBlock {
    int vectors;    // of filters, side by side
    int tiles;      // side by side: with vectors the sums in registers
    int kilobytes;  // of what a task's tiles are transformed to
};

// Registers of AVX-512: 3 * 8 sums, 3 vectors of U, a broadcast of V.
WinogradBlock choose(const Conv2dContext &context) {
    WinogradBlock block = {2, 8, 512};
    Knobs knobs(context.knobs);
    knobs.take("vectors", block.vectors, steps(1, 6));
    knobs.take("tiles", block.tiles, steps(1, 12));
    knobs.take("kilobytes", block.kilobytes, powers(64, 4096));
    knobs.end();
    knobs.estimate("vector registers", block.vectors * block.tiles + block.vectors + 1,
                   vector_registers(context.target));
    return block;
}

const Var kv("kv"), kb("kb"), cb("cb");
const RVar tb("tb"), task("task"), tile("tile"), co("co"), ci("ci"), cu("cu");
constexpr TailStrategy guard = TailStrategy::GuardWithIf;

void transform_input(Conv2dWinograd &stages, const LoopLevel &at, int tiles, int lanes) {
    const Var &ci = stages.ci, &co = stages.co, &ti = stages.ti, &to = stages.to, &j = stages.j,
              &p = stages.p;
    stages.input.compute_at(at)
        .bound_extent(ci, kWinogradChannels)
        .bound_extent(ti, tiles)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(j, kWinogradPoints)
        .reorder_storage(ci, ti, i, j, co, to, g)
        .split(ci, cb, ci, lanes)
        .reorder(ci, j, i, cb, co, ti, to, g)
        .vectorize(ci)
        .unroll(j)
        .parallel(to);
    stages.columns.compute_at(stages.input, cb)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(q, kWinogradPoints)
        .reorder(ci, i, q)
        .vectorize(ci, lanes)
        .unroll(i);
    stages.patch.compute_at(stages.columns, q)
        .bound_extent(p, kWinogradPoints)
        .vectorize(c, lanes)
        .unroll(p);
}

}  // namespace

int winograd_tiles(const Conv2dContext &context) { return choose(context).tiles; }

namespace cpu {

void winograd(Conv2dWinograd &stages, const Conv2dContext &context) {
    const WinogradBlock block = choose(context);
    const int lanes = std::min(kFilterBlock, context.target.natural_vector_size<float>());
    const int filters = block.vectors * lanes;
    const Var &ti = stages.ti, &to = stages.to, &j = stages.j, &u = stages.u, &v = stages.v;
    const RDom &d = stages.d;
    // Of a block of tiles, V and M.
    const Expr bytes =
        4 * kWinogradPoints * kWinogradPoints * block.tiles * (context.channels + filters);
    const Expr blocks = max(block.kilobytes * 1024 / bytes, 1);

    stages.output.update()
        .allow_race_conditions()
        .split(k, kb, k, filters, guard)
        .split(k, kv, k, lanes)
        .split(d.z, tb, tile, block.tiles, guard)
        .split(tb, task, tb, blocks, guard)
        .reorder(k, d.x, d.y, kv, tile, tb, kb, task, g)
        .vectorize(k)
        .parallel(kb)
        .parallel(task)
        .parallel(g);
    stages.start.compute_root();
    stages.activated.compute_at(stages.output, d.x)
        .bound_extent(k, lanes)
        .vectorize(k)
        .specialize(context.plain);
    for (Func *f : {&stages.tile, &stages.rows}) {
        f->compute_at(stages.output, kv).bound_extent(k, lanes).vectorize(k, lanes);
    }
    stages.tile.bound_extent(u, kWinogradTile)
        .bound_extent(v, kWinogradTile)
        .reorder(k, v, u)
        .unroll(v);
    stages.rows.bound_extent(u, kWinogradTile).bound_extent(j, kWinogradPoints).unroll(u);

    Func product = stages.product, stored = product.in();
    stored.compute_at(stages.output, kb)
        .bound_extent(k, filters)
        .align_bounds(k, filters)
        .bound_extent(ti, block.tiles)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(j, kWinogradPoints)
        .reorder_storage(k, i, j, ti, to, g)
        .reorder(k, ti, to, i, j, g)
        .vectorize(k, lanes)
        .unroll(k)
        .unroll(ti);
    const RVar from = stages.channels.x;
    product.compute_at(stored, to).vectorize(k, lanes).unroll(k).unroll(ti);
    product.update()
        .split(from, co, ci, kWinogradChannels, guard)
        .reorder(k, ti, ci, co)
        .vectorize(k, lanes)
        .unroll(k)
        .unroll(ti);
    transform_input(stages, LoopLevel(stages.output, task), block.tiles, lanes);
}

}  // namespace cpu

}  // namespace hk::schedules
