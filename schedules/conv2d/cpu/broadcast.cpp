#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct PackedTile {
    int lanes;   // of a vector: 8 where 16 would leave half of the last one empty
    int block;   // output channels: vectors of them side by side
    int x, y;    // pixels
    int stage;   // copy the padded input first, 1: of a tile, 2: of all tiles of a task; 0: read it
                 // where it is
    int outer;   // blocks of filters in a pass over the pixels, passes outermost; 0: all in one
    int chunk;   // tiles of a row in a task; 0: all
    int unroll;  // channels of a step
    int windows;  // 1: the sum is over what a row of a window meets, of few channels
};

constexpr int kFewChannels = 4;  // of a picture

bool pointwise(const Conv2dContext &context) {
    return context.kernel_w == 1 && context.kernel_h == 1;
}

// A pixel's channels are known, and no vector.
bool few_channels(const Conv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    return context.nhwc && context.channels_per_group > 0 && context.channels_per_group < lanes / 2;
}

// Rows name what fits AVX-512. Of 16 registers a block has two vectors of eight and tiles of six
// pixels of a line, and of a picture; of other rows, and of few pixels, four, which widths of 7 and
// 8 fill, too. Three vectors and four pixels are for 24 filters, of which two blocks would leave a
// quarter of their lanes empty: seven loads for twelve multiply-adds, where two and six are eight.
// Passes have as many filters as the row's, in nchw, where each copies the pixels of 1x1 filters,
// four times as many.
void fit_16_registers(PackedTile &tile, const Conv2dContext &context, int lanes) {
    const bool copies = !context.nhwc && pointwise(context), line = context.nhwc && tile.y == 1;
    const int vectors = std::min(tile.block, kFilterBlock) / lanes;
    const int most = (vector_registers(context.target) - vectors - 1) / vectors;
    const bool of_rows =
        !(line && (pointwise(context) || few_channels(context))) && (tile.x == 7 || tile.x == 8);
    const bool few_pixels = tile.x <= 2;
    const bool three_vectors = context.nhwc && tile.block == 3 * lanes;
    const int filters = tile.outer * tile.block * (copies ? 4 : 1);
    tile.lanes = lanes;
    if (!three_vectors && tile.block > kFilterBlock / 2) tile.block = kFilterBlock;
    tile.x = std::min(of_rows || three_vectors || few_pixels ? 4 : tile.x, most);
    tile.y = std::min(tile.y, most / tile.x);
    tile.outer = filters / tile.block;
    if (copies) tile.stage = 2;
}

// Registers: sums, the block's vectors of the filter, one broadcast. AVX-512: 7 + 1 + 1 of 32;
// AVX2: 2 * 6 + 2 + 1 of 16. A multiplication takes its broadcast from memory, and its result is
// there four cycles later: seven sums hide that, and fit images of 7, 14, 28 and 56 pixels. Of 16
// registers addresses and ends of the loop are a third of the instructions, unless four channels
// share them: explorer run conv2d_backward_data 14x14_1024-256_1x1 --knobs
// block:64,tile_x:6,stage:0,chunk:512,outer:1,unroll:1 has 0.88 of the speed on Zen 3.
//
// Few channels are a short loop, at whose ends sums of 16 registers go to memory and back. So the
// sum is over what a row of a window meets (`windows`), one step after the other.
PackedTile choose(const Conv2dContext &context) {
    const int widest = std::min(kFilterBlock, context.target.natural_vector_size<float>());
    PackedTile tile = {widest, kFilterBlock, 7, 1, 2, 0, 0, widest < kFilterBlock ? 4 : 1, 0};
    if (context.pairs) tile.block = 2 * kFilterBlock;
    Knobs knobs(context.knobs);
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    knobs.take("block", tile.block, steps(8, 96, 8));
    knobs.take("tile_x", tile.x, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 28});
    knobs.take("tile_y", tile.y, steps(1, 4));
    knobs.take("stage", tile.stage, {0, 1, 2});
    knobs.take("outer", tile.outer, {0, 1, 2, 4, 8, 16, 32});
    knobs.take("chunk", tile.chunk, {0, 1, 2, 4, 8, 16, 32, 64, 512});
    knobs.take("unroll", tile.unroll, powers(1, 8));
    knobs.take("windows", tile.windows, {0, 1});
    knobs.end();
    // Rows name what needs no conversion.
    if (pointwise(context) && !context.pairs && !context.pointwise_f32) tile.stage = 2;
    if (context.channels_per_group > 0 && context.channels_per_group <= kFewChannels)
        tile.unroll = 1;  // all of them
    const int registers = vector_registers(context.target);
    if (widest < kFilterBlock) fit_16_registers(tile, context, widest);
    knobs.require(tile.block % tile.lanes == 0, "block is a multiple of lanes");
    knobs.require(
        !tile.windows || (context.nhwc && context.dilation_x == 1 && tile.stage && !context.pairs),
        "windows:1 is of nhwc and dilations of 1 along rows, with stage");
    const int vectors = tile.block / tile.lanes;
    knobs.estimate("vector registers", vectors * tile.x * tile.y + vectors + 1, registers);
    return tile;
}

bool joins_rows(const Conv2dContext &context, const PackedTile &tile) {
    return tile.windows || (few_channels(context) && !context.pairs);
}

// Rows of pixels that lie next to each other are copied in vectors.
void copy_rows(Conv2d &stages, const Conv2dContext &context) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const int lanes = context.target.natural_vector_size<float>();
    stages.padded.vectorize(stages.padded.args()[0], lanes, TailStrategy::RoundUp);
    stages.padded.update()
        .specialize(context.dense_pixels)
        .vectorize(stages.elements.x, lanes, guard);
}

// Pixels are an odd number of cache lines apart, so that those of a tile meet in no set. Four
// channels are a whole vector: by masked ones of eight 450x450_4-16_2x2_s2 takes 2.8 ms, not 1.0,
// on Zen 3 (bench --list conv_training).
void copy_pixels(Conv2d &stages, int lanes, const Conv2dContext &context) {
    const int line = 64 / stages.padded.type().bytes();
    const int channels = context.channels_per_group;
    if (channels > 0 && lanes % channels == 0) lanes = channels;
    stages.padded.vectorize(c, lanes, TailStrategy::GuardWithIf)
        .bound_storage(c, (ceil_div(context.channels, line) / 2 * 2 + 1) * line);
}

// Vectors of the output: of pairs two vectors of sums, which one instruction rounds.
int finished_lanes(const Conv2dContext &context, const PackedTile &tile) {
    const bool two = context.pairs && context.nhwc && tile.block % (2 * kFilterBlock) == 0;
    return two ? 2 * kFilterBlock : tile.lanes;
}

const Var kv("kv"), kb("kb"), kp("kp"), xo("xo"), xc("xc"), yo("yo"), rows("rows");

// Rows of a filter that are fetched ahead: they may be pages apart, where no CPU does it by itself.
constexpr int kAhead = 16;

// The filter of a gradient, as schedules/conv2d/cpu/filter.cpp packs that of conv2d.
void pack(Conv2d &stages, const PackedTile &tile, int lanes, const Conv2dContext &context) {
    const Var ci("ci"), blocks("blocks");
    if (!stages.of_pair) stages.packed.bound_extent(stages.ki, tile.block);
    const bool in_vectors = context.nhwc || pointwise(context);
    if (stages.of_pair)
        pack_pairs(stages, tile.block, in_vectors ? lanes : 0);
    else if (tile.windows)
        stages.packed.reorder(stages.ki, c, s, r, stages.ko, g).vectorize(stages.ki, lanes);
    else if (context.filters_inner && in_vectors)
        stages.packed.reorder(stages.ki, s, r, c, stages.ko, g)
            .vectorize(stages.ki, lanes)
            .prefetch(context.filter, c, c, kAhead, PrefetchBoundStrategy::NonFaulting);
    else if (context.filters_inner)
        stages.packed.reorder(s, r, stages.ki, c, stages.ko, g);
    else if (in_vectors)
        stages.packed.split(c, c, ci, lanes, TailStrategy::GuardWithIf)
            .reorder(ci, stages.ki, c, s, r, stages.ko, g)
            .vectorize(ci);
    else
        stages.packed.reorder(s, r, c, stages.ki, stages.ko, g);
    if (tile.outer)
        stages.packed.compute_at(stages.output, kp);
    else
        stages.packed.compute_root().fuse(stages.ko, g, blocks).parallel(blocks);
}

// Chunks of more tiles are divided further where they make few tasks.
constexpr int kUndividedChunk = 4;

bool divides_chunks(const Conv2d &stages, const PackedTile &tile) {
    return tile.chunk > kUndividedChunk && !stages.blocked.running.defined();
}

// Tiles in a task: fewer where that makes few tasks, as many tasks as threads take in turn. With
// one thread they would only read the filter more often.
Expr chunk(const Conv2d &stages, const PackedTile &tile) {
    constexpr int tasks_of_thread = 4;
    const Expr threads = number_of_threads();
    const Expr parts = ceil_div(tasks_of_thread * threads, ceil_div(stages.out_h, tile.y));
    const Expr even = ceil_div(ceil_div(stages.out_w, tile.x), parts);
    return select(threads > 1, clamp(even, kUndividedChunk, tile.chunk), tile.chunk);
}

// Tasks are rows of pixels, or parts of one; with `outer` of one pass after the other, or where a
// pass packs its filters, passes. Parts whose number depends on the threads are a loop of their
// own: the bounds of what is fused with them would not be known.
void split(Conv2d &stages, const PackedTile &tile, int lanes, bool filter_packed) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    Func &out = stages.output;
    out.split(x, xo, x, tile.x, guard)
        .split(y, yo, y, tile.y, guard)
        .split(k, kb, k, tile.block, guard)
        .split(k, kv, k, lanes)
        .vectorize(k);
    if (divides_chunks(stages, tile))
        out.split(xo, xc, xo, chunk(stages, tile), guard);
    else if (tile.chunk)
        out.split(xo, xc, xo, tile.chunk, guard);
    else
        out.split(yo, yo, xc, 1);  // one part
    if (tile.outer)
        out.split(kb, kp, kb, tile.outer, guard).reorder(k, kv, x, y, kb, xo, xc, yo, n, kp, g);
    else
        out.reorder(k, kv, x, y, kb, xo, xc, yo, g, n);
    if (divides_chunks(stages, tile))
        out.parallel(xc).rename(yo, rows);
    else
        out.fuse(xc, yo, rows);
    if (!tile.outer) out.fuse(rows, g, rows);
    out.fuse(rows, n, rows);
    if (tile.outer && filter_packed)
        out.fuse(rows, kp, rows).fuse(rows, g, rows);
    else if (tile.outer)
        out.parallel(kp);
    out.parallel(rows);
}

// The sums of a tile: registers, where that is all of it; else the stack.
void hold(Func sum, const PackedTile &tile, const LoopLevel &at,
          const std::vector<VarOrRVar> &steps, const std::optional<RVar> &of_pair) {
    const TailStrategy round_up = TailStrategy::RoundUp;
    sum.compute_at(at)
        .bound_extent(k, tile.block)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .align_bounds(k, tile.block)
        .vectorize(k, tile.lanes, round_up)
        .unroll(k)
        .unroll(x)
        .unroll(y);
    std::vector<VarOrRVar> loops = {k, x, y};
    loops.insert(loops.end(), steps.begin(), steps.end());
    Stage update = add_in_vectors(sum, of_pair, tile.lanes, loops);
    update.unroll(k).unroll(x).unroll(y);
    if (tile.unroll == 1 || of_pair) return;
    const RVar step("step"), of_step("of_step");
    update.split(steps.front().rvar, step, of_step, tile.unroll, TailStrategy::GuardWithIf)
        .reorder({k, x, y, of_step, step})
        .unroll(of_step)
        .partition(step, Partition::Always);
}

// Sums in registers; of blocks, with the running ones on the stack.
void hold_sums(Conv2d &stages, const PackedTile &tile) {
    const LoopLevel at(stages.output, kb);
    if (!stages.blocked.running.defined()) {
        hold(stages.sum, tile, at, {stages.rc, stages.rs, stages.rr}, stages.of_pair);
        return;
    }
    const RDom &d = stages.blocked.in_block, &blocks = stages.blocked.blocks;
    const int first = stages.of_pair ? 1 : 0;
    PackedTile running = tile;
    running.unroll = 1;  // a step is a block
    hold(stages.blocked.running, running, at, {blocks.x, blocks.y, blocks.z}, {});
    hold(stages.blocked.block_sum, tile, LoopLevel(stages.blocked.running, blocks.x),
         {d[first], d[first + 1], d[first + 2]}, stages.of_pair);
}

}  // namespace

namespace cpu {

PackedSum broadcast_sum(const Conv2dContext &context) {
    const PackedTile tile = choose(context);
    const bool broadcasts = context.schedule.starts_with("broadcast");  // not root
    return {tile.block,
            tile.y == 1 && !pointwise(context),
            tile.stage && joins_rows(context, tile) ? Padding::joined_rows : Padding::compared,
            context.schedule == "broadcast_blocks",
            !context.pairs                      ? Pairs::none
            : tile.stage && broadcasts          ? Pairs::stored
            : pointwise(context) && !tile.stage ? Pairs::whole
                                                : Pairs::words,
            broadcasts && finished_lanes(context, tile) > tile.lanes,
            tile.windows == 1};
}

// Vectors of output channels times broadcasts of the input, the sums in registers. A tile's input
// is padded and widened to f32 once, for all blocks, and that makes its addresses constants of the
// inner loop. With few pixels and a filter larger than a core's cache, passes of some blocks
// (`outer`) read the filter from memory once, instead of once a tile.
//
// The filter of a gradient is packed in its call: with few pixels that is much beside the sums, and
// where the filter's memory is in vectors of filters, blocks are packed just before all pixels use
// them (`outer` again: figures at the rows of conv2d_backward_data).
//
// Lost: padding inlined (comparisons in the inner loop); filters that lie in vectors read where
// they are (1x1: as fast as packed, and worse where rows are a power of two apart); the sum in
// slices of 256 or 512 channels that stay in the cache (6 to 8 % slower: bench --list resnet50
// --filter 7x7_2048).
void broadcast(Conv2d &stages, const Conv2dContext &context) {
    const PackedTile tile = choose(context);
    const int lanes = finished_lanes(context, tile);
    Func &out = stages.output;

    split(stages, tile, lanes, context.filter_packed);
    // From registers to the output, where a tile's sum may be short. What follows the sum of a
    // gradient is short; an activation and a residual in line are 100 KB. In nchw elements of a
    // vector are stored one by one: unrolled, that is as fast, and up to six times the code.
    if (context.in_place && context.nhwc)
        out.unroll(kv).unroll(x);
    else if (few_channels(context) || tile.windows || (context.nhwc && pointwise(context))) {
        out.specialize(context.plain).unroll(kv).unroll(x);
        out.never_partition_all();
    }
    stages.start.compute_root();
    // A vector, known as one, or its memory would not be on the stack.
    stages.activated.compute_at(out, kv).vectorize(k);
    by_activation(stages.activated, context);
    if (context.in_place)
        stages.activated.bound_storage(k, lanes);
    else
        stages.activated.bound_extent(k, lanes);
    hold_sums(stages, tile);
    if (stages.tap.defined())
        stages.tap
            .compute_at(stages.blocked.running.defined() ? stages.blocked.block_sum : stages.sum,
                        stages.blocked.running.defined() ? stages.blocked.in_block[1] : stages.rc)
            .bound_extent(x, tile.x)
            .bound_extent(y, tile.y)
            .bound_extent(i, 2)
            .vectorize(i)
            .unroll(x)
            .unroll(y);
    // A picture's channels: a loop of three costs more than what it does.
    if (context.channels_per_group > 0 && context.channels_per_group <= kFewChannels)
        stages.sum.update().unroll(stages.rc);
    if (tile.stage) {
        if (tile.outer && !context.filter_packed)
            stages.padded.compute_root();
        else
            stages.padded.compute_at(out, tile.stage == 1                ? xo
                                          : divides_chunks(stages, tile) ? xc
                                                                         : rows);
        if (joins_rows(context, tile))
            copy_rows(stages, context);
        else if (few_channels(context))
            stages.padded.vectorize(c, 4, TailStrategy::GuardWithIf);
        else
            copy_pixels(stages, stages.of_pair ? 2 * tile.lanes : tile.lanes, context);
        // Room for the zero after an odd number of channels.
        if (stages.of_pair) stages.padded.align_storage(c, 2).update().unscheduled();
    }
    if (!context.filter_packed) pack(stages, tile, tile.lanes, context);
}

// The same with one more level: a block's sums are in registers, the running ones on the stack.
void broadcast_blocks(Conv2d &stages, const Conv2dContext &context) { broadcast(stages, context); }

}  // namespace cpu

}  // namespace hk::schedules
