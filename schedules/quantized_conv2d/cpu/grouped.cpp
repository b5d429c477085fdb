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
    const int most = std::max(kFilterBlock / std::max(filters, 1), 1);
    GroupedTile tile = {7, 1, most, 8};
    Knobs knobs(context.knobs);
    knobs.take("tile_x", tile.x, steps(1, 16));
    knobs.take("depth", tile.depth, {1, 2, 4, 8});
    knobs.take("across", tile.across, {1, 2, 4});
    knobs.take("strip", tile.strip, powers(1, 64));
    knobs.end();
    knobs.require(tile.across <= most, "across is at most " + std::to_string(most));
    knobs.require(context.channels_per_group / kWord % tile.depth == 0,
                  "depth divides the words of a group's channels");
    const int lanes = context.target.natural_vector_size<float>();
    const int sums = tile.across * filters * (sums_halves(context) ? 2 : 1);
    const int vectors = (sums + lanes - 1) / lanes;
    // Rows name what fits AVX-512.
    if (lanes < kFilterBlock) tile.x = std::max(std::min(tile.x, 12 / vectors), 1);
    knobs.estimate("vector registers", vectors * (tile.x + std::max(context.kernel_w, 1)),
                   vector_registers(context.target));
    return tile;
}

}  // namespace

namespace cpu {

// Vectors across groups, as schedules/conv2d/cpu/grouped.cpp has them: the multiplicand is each
// group's word of four channels, spread over the lanes of its filters by one shuffle, which the
// columns of a filter share. AVX-512, 4 or 8 channels a group: 7 sums, 3 vectors of the filter and
// 9 spread inputs of 32 registers; 16 or 32 take broadcasts. What follows the sums takes them from
// the registers.
//
// A vector of bytes is a quarter of a cache line, and so four of them, side by side, go over a few
// rows of the image before the next rows: with all rows for each a line comes from the second
// cache four times, which took twice as long at 56x56x128, 32 groups. What this reaches: bench
// --family quantized_conv2d --type u8 --list resnext50 --filter g32.
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
    Func &sum = summed(stages);
    sum.compute_at(out, xo)
        .bound_extent(k, filters)
        .bound_extent(x, tile.x)
        .bound_extent(g, tile.across)
        .align_bounds(g, tile.across);
    vectorize_sums(stages, sum, k, lanes);
    sum.vectorize(g).unroll(k).unroll(x);
    Stage update = add_words(stages, context, {d[0], k, g, x, d[2], d[1], d[3]}, k, lanes);
    update.vectorize(g).unroll(k).unroll(x).unroll(d[1], tile.depth);
    if (context.kernel_w > 0) update.unroll(d[2]);
    add_halves(stages, LoopLevel(out, x), k, lanes);
    if (stages.halves.defined())
        for (Stage stage : {Stage(stages.sum), stages.sum.update()}) stage.vectorize(g);
    stages.padded.compute_at(out, gb)
        .bound_extent(c, context.channels_per_group)
        .bound_extent(g, tile.across)
        .align_bounds(g, tile.across)
        .vectorize(c)
        .vectorize(g);
    if (stages.packed.defined()) stages.packed.compute_root().bound_extent(k, filters).vectorize(i);
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.window_sum.compute_at(out, x);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
