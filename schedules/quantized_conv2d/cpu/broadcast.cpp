#include "schedules/quantized_conv2d/quantized_conv2d.h"
#include "schedules/transpose.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

int quantized_packed_lanes(const QuantizedConv2dContext &context) {
    return context.schedule == "broadcast" ? context.target.natural_vector_size<float>() : 1;
}

namespace {

struct PackedTile {
    int block;  // output channels: vectors of them side by side
    int x, y;   // pixels
    int stage;  // padded input: 1 copied for a tile, 2 for a row of tiles
    int outer;  // 1: blocks of filters are the outermost loop, packed one at a time
};

// Registers: sums, the block's vectors of the filter, one broadcast. AVX-512: 2 * 14 + 2 + 1 of 32;
// AVX2: 2 * 6 + 2 + 1 of 16.
PackedTile choose(const QuantizedConv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    PackedTile tile =
        lanes >= 16 ? PackedTile{2 * lanes, 7, 2, 1, 0} : PackedTile{2 * lanes, 6, 1, 1, 0};
    Knobs knobs(context.knobs);
    knobs.take("block", tile.block, steps(lanes, 96, lanes));
    knobs.take("tile_x", tile.x, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 28});
    knobs.take("tile_y", tile.y, steps(1, 4));
    knobs.take("stage", tile.stage, {1, 2});
    knobs.take("outer", tile.outer, {0, 1});
    knobs.end();
    const int vectors = tile.block / lanes;
    knobs.estimate("vector registers", vectors * tile.x * tile.y + vectors + 1,
                   vector_registers(context.target));
    return tile;
}

// A panel at a time goes through the steps of its transposition, in registers: 16 x 16 words take
// 80 ns on one Zen 4 core, a third of what copying them word by word takes. In nchw a filter's
// channels are gathered, row by row: unrolled as well, that is 300 kB of code in place of 150.
Func &pack(QuantizedConv2d &stages, const QuantizedConv2dContext &context, const LoopLevel &where) {
    const int lanes = quantized_packed_lanes(context);
    Func &result = context.integer ? stages.packed : stages.words;
    const Var innermost = context.integer ? stages.byte : element;
    const int size = lanes * lanes * (context.integer ? 4 : 1);
    result.compute_at(where)
        .bound_extent(innermost, size)
        .align_bounds(innermost, size)
        .vectorize(innermost, size, TailStrategy::RoundUp);
    const LoopLevel at(result, stages.panel);
    stages.bytes.compute_at(at)
        .bound_storage(c, 4 * lanes)
        .vectorize(c, 4 * lanes, TailStrategy::GuardWithIf);
    if (context.nhwc) stages.bytes.unroll(row);
    transpose_at(at, stages.transposed, {lanes, lanes});
    return result;
}

// All sums of a tile in registers, unrolled.
void accumulate(QuantizedConv2d &stages, const QuantizedConv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    if (stages.blocked.running.defined()) {
        const RDom &d = stages.blocked.in_block, &blocks = stages.blocked.blocks;
        const auto add = [&](Func sum, const std::vector<VarOrRVar> &loops) {
            sum.unroll(k).unroll(x).unroll(y);
            sum.update()
                .reorder(loops)
                .vectorize(k, lanes, TailStrategy::RoundUp)
                .unroll(k)
                .unroll(x)
                .unroll(y);
        };
        add(stages.blocked.running, {k, x, y, blocks.x, blocks.y, blocks.z});
        add(stages.blocked.block_sum, {k, x, y, d.x, d.y, d.z});
        return;
    }
    const RDom &d = stages.r;
    stages.sum.unroll(k).unroll(x).unroll(y);
    Stage update = stages.sum.update();
    if (context.integer)
        update.atomic().reorder(d.x, k, x, y, d.y, d.z, d.w).vectorize(d.x);
    else
        update.reorder(k, x, y, d.x, d.y, d.z, d.w);
    update.vectorize(k, lanes, TailStrategy::RoundUp).unroll(k).unroll(x).unroll(y);
    if (!context.integer) update.unroll(d.x);
}

}  // namespace

namespace cpu {

void schedule_filters(QuantizedConv2dEnds &stages, const QuantizedConv2dContext &context,
                      const LoopLevel &at, const Var &filters) {
    const int lanes = context.target.natural_vector_size<float>();
    for (Func *f : {&stages.start, &stages.multiplier, &stages.offset})
        f->compute_at(at).vectorize(filters, lanes, TailStrategy::RoundUp);
    for (Func *f : {&stages.start, &stages.offset}) {
        f->specialize(context.no_bias);
        f->specialize(context.word_bias);
    }
}

// Vectors of output channels times broadcasts of the input, the sums in registers, as in
// schedules/conv2d/cpu/broadcast.cpp: in 8 bits a broadcast is a word of four channels, and
// vpdpbusd multiplies and adds up all four; in f32 each byte of a word of the filter is widened by
// two shifts and a conversion, which its 14 multiplications hide. What follows the sums runs over
// the whole tile without a condition; only the copy to the output looks for the ends.
//
// bench --family quantized_conv2d --list resnet50, one Zen 4 core, u8 to u8, of 468 GOP/s: 3x3 410
// to 428 at 56x56 to 14x14, 1x1 360 to 424 from 128 channels on, 264 from 64 channels, where what
// follows the sum is a third of the time. f32: 90 to 103 of 118. 3x3 padded a row of tiles at a
// time: 413 at 56x56, a tile at a time 373. A filter of 2 MB packed a block at a time, so that it
// stays in the cache: 313 at 7x7, 1024 to 2048 channels; all of it first 191.
void quantized_broadcast(QuantizedConv2d &stages, const QuantizedConv2dContext &context) {
    const PackedTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>();
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), kb("kb"), rows("rows"), blocks("blocks");

    out.split(x, xo, x, tile.x, TailStrategy::GuardWithIf)
        .split(y, yo, y, tile.y, TailStrategy::GuardWithIf)
        .split(k, kb, k, tile.block, TailStrategy::GuardWithIf)
        .vectorize(context.nhwc ? k : x);
    const Var first = context.nhwc ? k : x, second = context.nhwc ? x : k;
    if (tile.outer)
        out.reorder(first, second, y, xo, yo, n, kb, g).parallel(kb);
    else
        out.reorder(first, second, y, kb, xo, yo, g, n)
            .fuse(yo, g, rows)
            .fuse(rows, n, rows)
            .parallel(rows);
    schedule_filters(stages, context, LoopLevel::root(), k);
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.window_sum.compute_at(out, xo);
    }
    const LoopLevel step(out, tile.outer ? xo : kb);
    const BlockedSum &blocked = stages.blocked;
    std::vector<std::pair<Func, LoopLevel>> tiles = {{stages.activated, step}};
    if (blocked.running.defined()) {
        tiles.push_back({blocked.running, step});
        tiles.push_back({blocked.block_sum, LoopLevel(blocked.running, blocked.blocks.x)});
    } else {
        tiles.push_back({stages.sum, step});
    }
    for (auto &[f, at] : tiles)
        f.compute_at(at)
            .bound_extent(k, tile.block)
            .bound_extent(x, tile.x)
            .bound_extent(y, tile.y)
            .align_bounds(k, tile.block)
            .vectorize(k, lanes, TailStrategy::RoundUp);
    stages.activated.specialize(context.plain && context.unsigned_bytes).unroll(k);
    stages.activated.specialize(context.plain).unroll(k);
    accumulate(stages, context);
    const int bytes = context.integer ? 4 * lanes : lanes;
    stages.padded.align_storage(c, 4);
    if (tile.outer)
        stages.padded.compute_root();
    else
        stages.padded.compute_at(out, tile.stage == 2 ? rows : xo);
    if (context.channels_per_group > 0 && context.channels_per_group < 4)
        stages.padded.unroll(c);
    else
        stages.padded.vectorize(c, bytes, TailStrategy::GuardWithIf);
    stages.padded.update().unscheduled();
    if (tile.outer)
        pack(stages, context, LoopLevel(out, kb));
    else
        pack(stages, context, LoopLevel::root()).fuse(stages.ko, g, blocks).parallel(blocks);
}

}  // namespace cpu

}  // namespace hk::schedules
