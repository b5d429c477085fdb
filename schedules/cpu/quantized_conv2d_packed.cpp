#include "schedules/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct PackedTile {
    int block;  // output channels: vectors of them side by side
    int x, y;   // pixels
};

// Registers: sums, the block's vectors of the filter, one broadcast. AVX-512: 2 * 14 + 2 + 1 of 32;
// AVX2: 2 * 6 + 2 + 1 of 16.
PackedTile choose(const QuantizedConv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    PackedTile tile = lanes >= 16 ? PackedTile{2 * lanes, 7, 2} : PackedTile{2 * lanes, 6, 1};
    Knobs knobs(context.knobs);
    knobs.take("block", tile.block);
    knobs.take("tile_x", tile.x);
    knobs.take("tile_y", tile.y);
    knobs.end();
    return tile;
}

}  // namespace

int quantized_packed_block(const QuantizedConv2dContext &context) { return choose(context).block; }

namespace cpu {

void quantized_packed(QuantizedConv2d &stages, const QuantizedConv2dContext &context) {
    const PackedTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>();
    const TailStrategy round_up = TailStrategy::RoundUp;
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), kb("kb"), rows("rows"), blocks("blocks");
    const RDom &d = stages.r;

    out.split(x, xo, x, tile.x, TailStrategy::GuardWithIf)
        .split(y, yo, y, tile.y, TailStrategy::GuardWithIf)
        .split(k, kb, k, tile.block, TailStrategy::GuardWithIf)
        .reorder(k, x, y, kb, xo, yo, g, n)
        .fuse(yo, g, rows)
        .fuse(rows, n, rows)
        .vectorize(k)
        .parallel(rows);
    for (Func *f : {&stages.start, &stages.multiplier, &stages.offset}) f->compute_root();
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.window_sum.compute_at(out, xo);
    }
    stages.activated.compute_at(out, kb)
        .bound_extent(k, tile.block)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .align_bounds(k, tile.block)
        .vectorize(k, lanes, round_up)
        .specialize(context.plain)
        .unroll(k);
    stages.sum.compute_at(out, kb)
        .bound_extent(k, tile.block)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .align_bounds(k, tile.block)
        .vectorize(k, lanes, round_up)
        .unroll(k)
        .unroll(x)
        .unroll(y);
    Stage update = stages.sum.update();
    if (context.integer)
        update.atomic()
            .reorder(d.x, k, x, y, d.y, d.z, d.w)
            .vectorize(d.x)
            .vectorize(k, lanes, round_up)
            .unroll(k)
            .unroll(x)
            .unroll(y);
    else
        update.reorder(k, x, y, d.x, d.y, d.z, d.w)
            .vectorize(k, lanes, round_up)
            .unroll(k)
            .unroll(x)
            .unroll(y)
            .unroll(d.x);
    stages.padded.compute_at(out, xo).vectorize(c, 4 * lanes, TailStrategy::GuardWithIf);
    stages.packed.compute_root()
        .bound_extent(stages.ki, tile.block)
        .bound_extent(i, 4)
        .reorder(i, w, stages.ki, s, r, stages.ko, g)
        .vectorize(i);
    stages.packed.fuse(stages.ko, g, blocks).parallel(blocks);
}

}  // namespace cpu

}  // namespace hk::schedules
