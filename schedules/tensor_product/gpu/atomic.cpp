#include "schedules/gpu_block.h"
#include "schedules/gpu_elements.h"
#include "schedules/tensor_product/tensor_product_atomic.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// Tiles of output channels (as k) and pairs (as x); groups are y, of which a block has one; tile_c
// is of input channels.
Tiles tiles_of(const Context &context) {
    const bool staged = context.schedule != "unstaged";
    Tiles tiles = staged ? Tiles{32, 128, 1, 16, 8, 16, 1} : Tiles{16, 32, 1, 1, 8, 16, 1};
    Knobs knobs(context.knobs);
    tiles.take(knobs, staged, false);
    knobs.end();
    knobs.require(!staged || tiles.tile_c % 4 == 0, "tile_c is a multiple of 4");
    return tiles;
}

Block block_of(TensorProductAtomic &stages, const Tiles &tiles) {
    const RDom &pairs = stages.pairs;
    return {tiles,
            true,
            {stages.m, stages.i, stages.g, {stages.t}},
            {stages.m, pairs.x, stages.g, {pairs.y}}};
}

// A thread's vectors of its rows, which it reads from global memory.
void gather_vectors(TensorProductAtomic &stages, const RVar &vector, const Tiles &t) {
    stages.gathered.compute_at(stages.product, vector)
        .store_in(MemoryType::Register)
        .bound_extent(stages.c, row_vector(stages.gathered.type()))
        .bound_extent(stages.i, t.tile_x / t.threads_x)
        .bound_extent(stages.g, 1)
        .bound_extent(stages.t, 1)
        .vectorize(stages.c)
        .unroll(stages.i);
}

// The output's first values, an element a thread.
void set_out(TensorProductAtomic &stages) {
    element_a_thread(stages.output, {stages.m, stages.g, stages.o});
    stages.output.update().atomic();
}

}  // namespace

TensorProductAtomicSizes tensor_product_atomic_sizes(const Context &context) {
    const Tiles t = tiles_of(context);
    return {t.tile_x, t.tile_c};
}

// One launch for all offsets; a block computes 32 channels of a tile of 128 pairs, 4 x 8 sums a
// thread in registers, and adds each once to global memory.
//
// Of rows in vectors of 16 bytes only the weight is shared, in tiles of 32 channels of the output
// by 16 of the input: exactly 512 floats, 2048 bytes. Access to the tile, [c][m], rows of 32
// floats: its 128 threads load four floats each. A warp's are one row: 128 bytes in one transaction
// where the weight's channels are neighbours, 32 banks. A thread reads four neighbours of a row at
// once; a warp is eight threads along m, which read the 32 floats of a row, one from each bank, by
// four along the pairs, which read the same ones. So no access has a conflict, without padding, and
// each float of the tile serves 128 FMAs. A thread reads eight vectors of the input for 128 FMAs,
// which are 0.75 of the loop, from rows that eight threads of the warp read together; the next
// blocks are of the same pairs and other channels, and find the rows in the cache.
//
// Other rows are staged too, 4 * 16 * (36 + 132) = 10752 bytes: 0.8 of the main loop are FMAs.
// Lost: their floats one by one from global memory, 0.4. large: 64 channels of 128 pairs, by twice
// as many threads, 4 * 16 * (68 + 132) = 12800 bytes, for sums so long and outputs so wide that
// rows would be read from global memory four times and more. Lost by arithmetic: a channel a thread
// and 16 pairs, whose additions are 128 bytes a warp, but one load from memory an FMA.
void tensor_product_atomic(TensorProductAtomic &stages, const Context &context) {
    const Block block = block_of(stages, tiles_of(context));
    const Tiles &t = block.tiles();
    const RDom &rc = stages.rc;
    set_out(stages);
    block.tile(stages.output.update(), Block::Unroll::all);
    block.hold(stages.product, stages.output);
    Stage update = stages.product.update();
    if (stages.vectors) {
        const RVar channel("channel"), vector("vector");
        update.split(rc.x, vector, channel, row_vector(stages.gathered.type()));
        block.accumulate(update, {channel, vector}, {rc.y});
        update.unroll(channel);
        gather_vectors(stages, vector, t);
    } else {
        block.accumulate(update, {rc.x}, {rc.y});
        update.unroll(rc.x);
    }

    const LoopLevel slice(stages.product, rc.y);
    const int padded = stages.vectors ? t.tile_k : t.tile_k + 4 + t.tile_x + 4;
    Tiles::estimate_shared(t.tile_c * padded, stages.matrix.type().bytes());
    cooperative_copy(stages.matrix, slice,
                     {{stages.m, t.tile_k}, {stages.c, t.tile_c}, {stages.g, 1}, {stages.t, 1}},
                     block.threads());
    if (stages.vectors) return;
    stages.matrix.align_storage(stages.m, t.tile_k + 4);
    stages.gathered.reorder_storage(stages.i, stages.c, stages.g, stages.t)
        .align_storage(stages.i, t.tile_x + 4);
    cooperative_copy(stages.gathered, slice,
                     {{stages.c, t.tile_c}, {stages.i, t.tile_x}, {stages.g, 1}, {stages.t, 1}},
                     block.threads());
}

// The last rung: no shared memory and 128 threads, 2 x 2 sums each.
void tensor_product_atomic_unstaged(TensorProductAtomic &stages, const Context &context) {
    const Block block = block_of(stages, tiles_of(context));
    const Tiles &t = block.tiles();
    set_out(stages);
    block.tile(stages.output.update(), Block::Unroll::all);
    stages.product.compute_at(LoopLevel(stages.output, Var("kt")))
        .store_in(MemoryType::Register)
        .bound_extent(stages.m, t.tile_k / t.threads_k)
        .bound_extent(stages.i, t.tile_x / t.threads_x)
        .unroll(stages.m)
        .unroll(stages.i)
        .update()
        .reorder(stages.m, stages.i, stages.rc.x, stages.rc.y)
        .unroll(stages.m)
        .unroll(stages.i)
        .never_partition_all();
}

}  // namespace hk::schedules::gpu
