#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct GroupedTile {
    int x;       // pixels
    int depth;   // words of the sum in a block of code
    int across;  // groups that share a vector
    int strip;   // rows of a task
};

GroupedTile choose(const QuantizedConv2dContext &context) {
    const int filters = context.filters_per_group;
    GroupedTile tile = {7, 1, std::max(kFilterBlock / std::max(filters, 1), 1), 8};
    Knobs knobs(context.knobs);
    knobs.take("tile_x", tile.x, steps(1, 16));
    knobs.take("depth", tile.depth, {1, 2, 4, 8});
    knobs.take("across", tile.across, {1, 2, 4});
    knobs.take("strip", tile.strip, powers(1, 64));
    knobs.end();
    const int lanes = context.target.natural_vector_size<float>();
    const int vectors = (tile.across * filters + lanes - 1) / lanes;
    // Rows name what fits AVX-512.
    if (lanes < kFilterBlock) tile.x = std::max(std::min(tile.x, 8 / vectors), 1);
    knobs.estimate("vector registers", vectors * (tile.x + std::max(context.kernel_w, 1)),
                   vector_registers(context.target));
    return tile;
}

}  // namespace

namespace cpu {

void quantized_grouped(QuantizedConv2d &stages, const QuantizedConv2dContext &context) {
    const GroupedTile tile = choose(context);
    const int filters = context.filters_per_group, lanes = std::min(filters, kFilterBlock);
    Func &out = stages.output;
    const Var xo("xo"), ys("ys"), gb("gb"), gt("gt"), rows("rows");
    const RDom &d = stages.r;
    const int blocks = std::max(64 / (tile.across * filters), 1);

    out.bound(k, 0, filters)
        .split(x, xo, x, tile.x, TailStrategy::GuardWithIf)
        .split(y, ys, y, tile.strip, TailStrategy::GuardWithIf)
        .split(g, gb, g, tile.across, TailStrategy::RoundUp)
        .split(gb, gt, gb, blocks, TailStrategy::GuardWithIf)
        .reorder(k, g, x, xo, y, gb, gt, ys, n)
        .vectorize(k)
        .vectorize(g);
    out.fuse(gt, ys, rows).fuse(rows, n, rows).parallel(rows);
    out.never_partition(x, xo, y);
    out.specialize(context.plain && context.unsigned_bytes).unroll(x);
    stages.activated.compute_at(out, x).vectorize(k).vectorize(g);
    stages.activated.specialize(context.plain && context.unsigned_bytes);
    stages.activated.specialize(context.plain);
    for (Func *f : {&stages.start, &stages.multiplier, &stages.offset})
        f->compute_root()
            .bound_extent(k, filters)
            .vectorize(k, lanes)
            .vectorize(g, tile.across, TailStrategy::RoundUp);
    for (Func *f : {&stages.start, &stages.offset}) {
        f->specialize(context.no_bias);
        f->specialize(context.word_bias);
    }
    stages.sum.compute_at(out, xo)
        .bound_extent(k, filters)
        .bound_extent(x, tile.x)
        .bound_extent(g, tile.across)
        .align_bounds(g, tile.across)
        .vectorize(k, lanes)
        .vectorize(g)
        .unroll(k)
        .unroll(x);
    Stage update = stages.sum.update();
    if (context.integer)
        update.atomic().reorder(d[0], k, g, x, d[2], d[1], d[3]).vectorize(d[0]);
    else
        update.reorder(d[0], k, g, x, d[2], d[1], d[3]).unroll(d[0]);
    update.vectorize(k, lanes).vectorize(g).unroll(k).unroll(x).unroll(d[1], tile.depth);
    if (context.kernel_w > 0) update.unroll(d[2]);
    stages.padded.compute_at(out, gb)
        .bound_extent(c, context.channels_per_group)
        .bound_extent(g, tile.across)
        .align_bounds(g, tile.across)
        .vectorize(c)
        .vectorize(g);
    if (stages.packed.defined())
        stages.packed.compute_root().bound_extent(k, filters).vectorize(i);
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.window_sum.compute_at(out, x);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
