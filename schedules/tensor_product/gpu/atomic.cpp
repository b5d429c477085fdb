#include "schedules/gpu_block.h"
#include "schedules/gpu_elements.h"
#include "schedules/tensor_product/tensor_product_atomic.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// Tiles of output channels (as k) and pairs (as x); groups are y, of which a block has one; tile_c
// is of input channels. stage: whether the input's rows lie in shared memory too.
struct Sizes {
    Tiles tiles;
    int stage;
};

constexpr int kUnroll = 4;  // channels of the input, where its rows are not staged

Sizes sizes(const Context &context) {
    const bool staged = context.schedule != "unstaged";
    Sizes sizes{staged ? Tiles{32, 128, 1, 16, 8, 32, 1} : Tiles{16, 32, 1, 1, 8, 16, 1}, 0};
    Knobs knobs(context.knobs);
    sizes.tiles.take(knobs, staged, false);
    if (staged) knobs.take("stage", sizes.stage, {0, 1});
    knobs.end();
    Knobs::require(context.schedule != "staged" || sizes.stage || sizes.tiles.tile_c % kUnroll == 0,
                   "tile_c is a multiple of 4, with stage:0");
    return sizes;
}

Block block_of(TensorProductAtomic &stages, const Sizes &sizes) {
    const RDom &pairs = stages.pairs;
    return {sizes.tiles,
            true,
            {stages.m, stages.i, stages.g, {stages.t}},
            {stages.m, pairs.x, stages.g, {pairs.y}}};
}

// The output's first values, an element a thread.
void set_out(TensorProductAtomic &stages) {
    element_a_thread(stages.output, {stages.m, stages.g, stages.o});
    stages.output.update().atomic();
}

}  // namespace

TensorProductAtomicSizes tensor_product_atomic_sizes(const Context &context) {
    const Tiles t = sizes(context).tiles;
    return {t.tile_x, t.tile_c};
}

// One launch for all offsets; a block computes 32 channels of a tile of 128 pairs, 4 x 4 sums a
// thread in registers, and adds each once to global memory. Only the weight is shared, in tiles of
// 32 channels of the output by 16 of the input: exactly 512 floats, 2048 bytes.
//
// Access to the tile, [c][m], rows of 32 floats: its 256 threads load two floats each. A warp's are
// one row: 128 bytes in one transaction where the weight's channels are neighbours, 32 banks. A
// thread reads four neighbours of a row at once; a warp is eight threads along m, which read the
// 32 floats of a row, one from each bank, by four along the pairs, which read the same ones. So no
// access has a conflict, without padding, and each float of the tile serves 128 FMAs. A thread
// reads four floats of the input for 16 FMAs, from rows that eight threads of the warp read
// together; the next blocks are of the same pairs and other channels, and find the rows in the
// cache.
//
// large: 64 channels of 128 pairs, 4 x 8 sums a thread, with the gathered rows staged too,
// 4 * 16 * (68 + 132) = 12800 bytes, for sums so long and outputs so wide that rows would be read
// from global memory four times and more.
// Lost by arithmetic: a channel a thread and 16 pairs, whose additions are 128 bytes a warp, but
// one load from memory an FMA.
void tensor_product_atomic(TensorProductAtomic &stages, const Context &context) {
    const Sizes chosen = sizes(context);
    const Block block = block_of(stages, chosen);
    const Tiles &t = block.tiles();
    const RDom &rc = stages.rc;
    set_out(stages);
    block.tile(stages.output.update(), Block::Unroll::all);
    block.hold(stages.product, stages.output);
    Stage update = stages.product.update();
    block.accumulate(update, {rc.x}, {rc.y});
    update.unroll(rc.x, chosen.stage ? t.tile_c : kUnroll);

    const LoopLevel slice(stages.product, rc.y);
    Tiles::estimate_shared(t.tile_c * (chosen.stage ? t.tile_k + 4 + t.tile_x + 4 : t.tile_k),
                           stages.matrix.type().bytes());
    cooperative_copy(stages.matrix, slice,
                     {{stages.m, t.tile_k}, {stages.c, t.tile_c}, {stages.g, 1}, {stages.t, 1}},
                     block.threads());
    if (!chosen.stage) return;
    stages.matrix.align_storage(stages.m, t.tile_k + 4);
    stages.gathered.reorder_storage(stages.i, stages.c, stages.g, stages.t)
        .align_storage(stages.i, t.tile_x + 4);
    cooperative_copy(stages.gathered, slice,
                     {{stages.c, t.tile_c}, {stages.i, t.tile_x}, {stages.g, 1}, {stages.t, 1}},
                     block.threads());
}

// The last rung: no shared memory and 128 threads, 2 x 2 sums each.
void tensor_product_atomic_unstaged(TensorProductAtomic &stages, const Context &context) {
    const Block block = block_of(stages, sizes(context));
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
