#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct PackedTile {
    int block;  // output channels: vectors of them side by side
    int x, y;   // pixels
    int stage;  // copy the padded input first, 1: of a tile, 2: of all tiles of a task; 0: read it
                // where it is, which takes channels in words, and no padding
    int outer;  // blocks of filters in a pass over the pixels, passes outermost; 0: all in one
    int chunk;  // tiles of a row in a task; 0: all
    bool words = false;  // stage is 0, or would be, if what is copied were not widened
    int together = 0;    // blocks that pass over a task's tiles before the next ones; 0: a tile
                         // after the other, of all blocks
};

// Registers: sums, the block's vectors of the filter, one broadcast. AVX-512: 2 * 7 + 2 + 1 of 32;
// AVX2, whose sums are halves: 2 * 4 + 2 + 1 of 16.
PackedTile choose(const QuantizedConv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    PackedTile tile = {std::max(2 * lanes, kFilterBlock), 7, 1, 2, 0, 0};
    Knobs knobs(context.knobs);
    knobs.take("block", tile.block, steps(kFilterBlock, 96, kFilterBlock));
    knobs.take("tile_x", tile.x, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 28});
    knobs.take("tile_y", tile.y, steps(1, 4));
    knobs.take("stage", tile.stage, {0, 1, 2});
    knobs.take("outer", tile.outer, {0, 1, 2, 4, 8, 16, 32});
    knobs.take("chunk", tile.chunk, {0, 1, 2, 4, 8, 16, 32, 64});
    knobs.end();
    const int registers = vector_registers(context.target);
    knobs.require(tile.stage || (context.kernel_w == 1 && context.kernel_h == 1),
                  "stage:0 takes 1x1 filters");
    tile.words = tile.stage == 0;
    // Rows name what fits dot products of AVX-512.
    if (sums_halves(context)) {
        tile.outer *= tile.block / lanes;
        tile.block = lanes;
        tile.x = std::min(tile.x, registers / 4);
        tile.y = 1;
        tile.stage = 2;
        tile.together = std::max(kFilterBlock / lanes, 1);
    } else if (lanes < kFilterBlock) {
        tile.block = kFilterBlock;
        const int vectors = tile.block / lanes;
        tile.x = std::min(tile.x, (registers - vectors - 1) / vectors);
        tile.y = 1;
    }
    const int vectors = (sums_halves(context) ? 2 : 1) * tile.block / lanes;
    knobs.estimate("vector registers", vectors * tile.x * tile.y + vectors + 1, registers);
    return tile;
}

// A pixel's channels are known, and no word.
bool few_channels(const QuantizedConv2dContext &context) {
    return context.nhwc && context.channels_per_group > 0 && context.channels_per_group < kWord;
}

const Var kv("kv"), kb("kb"), kt("kt"), kp("kp"), xo("xo"), xc("xc"), yo("yo"), rows("rows");

// Tasks are rows of pixels, or parts of one, with `outer` of one pass after the other.
void split(QuantizedConv2d &stages, const PackedTile &tile, int lanes, bool nhwc) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    Func &out = stages.output;
    out.split(x, xo, x, tile.x, guard)
        .split(y, yo, y, tile.y, guard)
        .split(k, kb, k, tile.block, guard)
        .split(k, kv, k, lanes);
    if (nhwc)
        out.vectorize(k);
    else
        out.vectorize(x);
    if (tile.chunk)
        out.split(xo, xc, xo, tile.chunk, guard);
    else
        out.split(yo, yo, xc, 1);  // one part
    const Var first = nhwc ? k : x, last = nhwc ? x : k;
    if (tile.outer) out.split(kb, kp, kb, tile.outer, guard);
    if (tile.together)
        out.split(kb, kt, kb, tile.together, guard);
    else
        out.split(xo, xo, kt, 1);  // one part
    out.reorder(first, kv, last, y, kb, xo, kt, xc, yo);
    if (tile.outer)
        out.reorder(yo, n, kp, g);
    else
        out.reorder(yo, g, n);
    out.fuse(xc, yo, rows);
    if (!tile.outer) out.fuse(rows, g, rows);
    out.fuse(rows, n, rows);
    if (tile.outer) out.fuse(rows, kp, rows).fuse(rows, g, rows);
    out.parallel(rows);
}

// The sums of a tile: registers, where that is all of it; else the stack.
void hold(QuantizedConv2d &stages, Func sum, const PackedTile &tile, int lanes,
          const LoopLevel &at) {
    sum.compute_at(at)
        .bound_extent(k, tile.block)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .align_bounds(k, tile.block);
    cpu::vectorize_sums(stages, sum, k, lanes);
    sum.unroll(k).unroll(x).unroll(y);
}

// The input, padded. Of few channels rows of pixels that lie next to each other are vectors.
void copy(QuantizedConv2d &stages, const QuantizedConv2dContext &context, const LoopLevel &at) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const int lanes = context.target.natural_vector_size<float>(),
              elements = context.integer ? kWord * lanes : lanes;
    if (stages.joined.defined()) {
        stages.joined.compute_at(at).vectorize(element, elements, TailStrategy::RoundUp);
        stages.joined.update()
            .specialize(context.dense_pixels)
            .vectorize(stages.elements.x, elements, guard);
        return;
    }
    // Room for the zeros after the last channel.
    stages.padded.compute_at(at).align_storage(c, kWord);
    // What is left of a vector is copied one by one.
    stages.padded.specialize(context.channels % elements == 0).vectorize(c, elements, guard);
    stages.padded.vectorize(c, lanes, guard);
    if (stages.padded.has_update_definition()) stages.padded.update().unscheduled();
}

// All sums of a tile, unrolled.
void accumulate(QuantizedConv2d &stages, const PackedTile &tile,
                const QuantizedConv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const LoopLevel step(stages.output, kb);
    const auto unroll = [&](Stage update) { update.unroll(k).unroll(x).unroll(y); };
    if (context.schedule == "broadcast_blocks") {
        Func running = stages.blocked.running, in_block = stages.blocked.block_sum;
        const RDom &d = stages.blocked.in_block, &blocks = stages.blocked.blocks;
        hold(stages, running, tile, lanes, step);
        hold(stages, in_block, tile, lanes, LoopLevel(running, blocks.x));
        for (Stage update : {running.update().reorder(k, x, y, blocks.x, blocks.y, blocks.z),
                             in_block.update().reorder(k, x, y, d.x, d.y, d.z)})
            unroll(update.vectorize(k, lanes, TailStrategy::RoundUp));
        return;
    }
    const RDom &d = stages.r;
    hold(stages, cpu::summed(stages), tile, lanes, step);
    Stage update = cpu::add_words(stages, context, {d[0], k, x, y, d[1], d[2], d[3]}, k, lanes);
    if (!context.integer) update.reorder(k, x, y, d[0]);
    unroll(update);
}

}  // namespace

PackedWords quantized_packed_words(const QuantizedConv2dContext &context) {
    if (context.schedule == "grouped")
        return {.block = context.filters_per_group,
                .whole = true,
                .rows_inside = true,
                .halves = sums_halves(context)};
    if (context.schedule != "broadcast" && context.schedule != "broadcast_blocks")
        return {.block = kFilterBlock, .filled = true};
    const PackedTile tile = choose(context);
    const int channels = context.channels_per_group;
    PackedWords form{tile.block};
    form.whole = tile.words || (channels > 0 && channels % kWord == 0);
    form.in_blocks = context.schedule == "broadcast_blocks";
    form.rows_inside = tile.y == 1 && !tile.words;
    form.joined_rows = !tile.words && few_channels(context) && !form.in_blocks;
    form.halves = sums_halves(context);
    return form;
}

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
// two shifts and a conversion, which its multiplications hide. What follows the sums takes them
// from the registers, and stores a vector's bytes where they belong: by way of the stack it was
// twice as long, which is what 1x1 filters of few channels feel most.
//
// Without vpdpbusd a vector of the filter's bytes is widened, and vpmaddwd multiplies and adds up
// two channels, exactly: vpmaddubsw takes four, but saturates with weights of 8 bits. A word's two
// sums are lanes side by side, added up after the last, and the copy of the input has 16 bits, so
// that a broadcast needs no more than its load: of eight products' 18 instructions two widen. Tiles
// are small, so that the filter is what is read most: 16 filters, which are lines of the cache,
// pass over a task's tiles. What this reaches on AVX2: bench --family quantized_conv2d --type u8
// --list resnet50.
//
// bench --family quantized_conv2d --type u8 --list resnet50, one Zen 4 core, of 473 GOP/s: 3x3 405
// to 483, which leaves out rows of the filter outside of the image; 1x1 390 to 445 from 128
// channels on at 28x28 and below, 341 at 56x56 from 64.
void quantized_broadcast(QuantizedConv2d &stages, const QuantizedConv2dContext &context) {
    const PackedTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>();
    Func &out = stages.output;

    split(stages, tile, lanes, context.nhwc);
    schedule_filters(stages, context, LoopLevel::root(), k);
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.filter_sum.update()
            .atomic()
            .reorder(stages.filter_r[0], k)
            .vectorize(stages.filter_r[0])
            .vectorize(k, lanes, TailStrategy::RoundUp);
        stages.window_sum.compute_at(out, tile.together ? rows : xo);
    }
    if (context.nhwc) {
        // The ends of tiles are compared with in each: a second loop for the last would double the
        // code.
        out.never_partition(x, xo, y, rows);
        out.specialize(context.plain && context.unsigned_bytes).unroll(kv).unroll(x);
        stages.activated.compute_at(out, kv).bound_extent(k, lanes).vectorize(k);
    } else {
        stages.activated.compute_at(out, kb)
            .bound_extent(k, tile.block)
            .bound_extent(x, tile.x)
            .bound_extent(y, tile.y)
            .vectorize(k, lanes, TailStrategy::RoundUp);
    }
    stages.activated.specialize(context.plain && context.unsigned_bytes);
    stages.activated.specialize(context.plain);
    add_halves(stages, LoopLevel(out, context.nhwc ? kv : kb), k, lanes);
    accumulate(stages, tile, context);
    if (tile.stage) copy(stages, context, LoopLevel(out, tile.stage == 1 ? xo : rows));
}

// The same with one more level: a block's sums are in registers, the running ones on the stack.
void quantized_broadcast_blocks(QuantizedConv2d &stages, const QuantizedConv2dContext &context) {
    quantized_broadcast(stages, context);
}

}  // namespace cpu

}  // namespace hk::schedules
