#include <algorithm>

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

// To shared memory by all threads of the block: neighbours copy what lies next to each other along
// `near`, and each `together` elements, for which it finds the channel once.
void copy(Func &tile, const LoopLevel &slice, const std::vector<std::pair<Var, int>> &extents,
          const Var &near, const Var &far, const Var &together, const Tiles &t) {
    const Var element("element"), copy("copy"), t0("t0"), t1("t1");
    tile.compute_at(slice).store_in(MemoryType::GPUShared);
    for (const auto &[dim, extent] : extents) tile.bound_extent(dim, extent);
    tile.fuse(near, far, element);
    for (size_t d = 2; d < extents.size(); d++) tile.fuse(element, extents[d].first, element);
    tile.split(element, copy, element, t.threads(), TailStrategy::GuardWithIf)
        .split(element, t1, t0, t.threads_k)
        .reorder(together, copy, t0, t1)
        .unroll(copy)
        .gpu_threads(t0, t1)
        .never_partition_all();
}

// Neighbours in the weight that neighbours of a block copy: a sector of memory.
constexpr int kNear = 8;

// Both operands of a slice. A thread loads the places of four pairs, and stores their values, as
// one vector; of the weight it has each kNear-th channel of the output.
void copy_slice(TensorProductAtomic &stages, const LoopLevel &slice, const Tiles &t) {
    const auto &[m, c, g, i, tile] = std::tie(stages.m, stages.c, stages.g, stages.i, stages.t);
    const int near = std::min(t.tile_k, kNear);
    const Var ms("ms"), pairs("pairs"), pair("pair");
    stages.matrix.align_storage(m, t.tile_k + near).split(m, ms, m, near);
    copy(stages.matrix, slice, {{m, t.tile_k}, {c, t.tile_c}, {g, 1}, {tile, 1}}, m, c, ms, t);
    stages.matrix.unroll(ms);
    stages.gathered.reorder_storage(i, c, g, tile)
        .align_storage(i, t.tile_x + 4)
        .split(i, pairs, pair, std::min(t.tile_x, 4));
    copy(stages.gathered, slice, {{c, t.tile_c}, {i, t.tile_x}, {g, 1}, {tile, 1}}, c, pairs, pair,
         t);
    stages.gathered.vectorize(pair);
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
// Other rows are staged too, 4 * 8 * (40 + 132) = 5504 bytes, and no access has a conflict. Of the
// main loop 0.76 are FMAs with the 4 x 16 sums a thread of `any`; 0.74 with 4 x 8 and slices of 16
// channels, and on an H100's model a quarter more time (explorer show tensor_product_atomic/any
// --target cuda --count --case voxels=2000,kernel=3,c=130,m=65,mode=atomic). Lost: their floats
// one by one from global memory, 0.4. large: 64 channels of 128 pairs, by twice as many threads,
// 4 * 16 * (72 + 132) = 13056 bytes, for sums so long and outputs so wide that rows would be read
// from global memory four times and more. Lost by arithmetic: a channel a thread and 16 pairs,
// whose additions are 128 bytes a warp, but one load from memory an FMA.
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
    if (!stages.vectors) {
        Tiles::estimate_shared(t.tile_c * (t.tile_k + kNear + t.tile_x + 4),
                               stages.matrix.type().bytes());
        copy_slice(stages, slice, t);
        return;
    }
    Tiles::estimate_shared(t.tile_c * t.tile_k, stages.matrix.type().bytes());
    cooperative_copy(stages.matrix, slice,
                     {{stages.m, t.tile_k}, {stages.c, t.tile_c}, {stages.g, 1}, {stages.t, 1}},
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
