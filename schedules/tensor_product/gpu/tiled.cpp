#include "schedules/gpu_block.h"
#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// Of a block: rows of the output, in shared memory, and tiles of output channels (as k) and pairs
// (as x); tile_c is of input channels.
struct Sizes {
    Tiles tiles{64, 64, 1, 8, 8, 8, 1};
    int rows = 192;
};

Sizes sizes(const Context &context) {
    Sizes sizes;
    Tiles &t = sizes.tiles;
    Knobs knobs(context.knobs);
    t.take(knobs, true, false);
    knobs.take("rows", sizes.rows, steps(32, 512, 32));
    knobs.end();
    knobs.require(t.tile_c % 4 == 0 && t.tile_k % 4 == 0, "tile_c and tile_k are whole vectors");
    knobs.require(sizes.rows % t.threads_x == 0, "threads_x divides rows");
    const int staged = t.tile_c * (t.tile_k + 4 + t.tile_x + 4), sums = sizes.rows * t.tile_k;
    knobs.estimate("bytes of shared memory", 4 * (staged + sums), 96 * 1024);
    return sizes;
}

}  // namespace

TensorProductStationarySizes tensor_product_tiled_sizes(const Context &context) {
    const Sizes chosen = sizes(context);
    return {chosen.rows, chosen.tiles.tile_c, chosen.tiles.tile_x};
}

namespace {

// A thread has neighbours in memory in groups of a vector, as Block has them.
constexpr int kVector = 4;

// Rows of the block, by the threads that have the same channels in `add`, a vector at once.
LoopLevel store_rows(TensorProductStationary &stages, const Sizes &chosen) {
    const Tiles &t = chosen.tiles;
    const RDom &rows = stages.rows;
    const Var &m = stages.m, mv("mv"), mo("mo"), mt("mt"), go("go");
    const RVar xt("xt"), xo("xo"), bo("bo"), block("block");
    constexpr auto guard = TailStrategy::GuardWithIf;
    // Of the undefined: it is dropped, but else asks for the host.
    stages.output.gpu_single_thread();
    Stage out = stages.output.update();
    promise_distinct(out);
    out.split(m, mv, m, kVector, TailStrategy::RoundUp)
        .split(mv, mo, mv, t.tile_k / kVector, guard)
        .split(mv, mv, mt, t.threads_k)
        .split(rows.x, xo, xt, t.threads_x)
        .split(stages.g, go, stages.g, 1)
        .split(rows.y, bo, rows.y, 1)
        .reorder({m, mv, xo, stages.g, mt, xt, rows.y, mo, go, bo})
        .fuse(go, bo, block)
        .fuse(mo, block, block)
        .gpu_blocks(block)
        .gpu_threads(mt, xt)
        .vectorize(m)
        .unroll(mv)
        .never_partition_all();
    stages.rounded.compute_at(stages.output, mv)
        .store_in(MemoryType::Register)
        .bound_extent(m, kVector)
        .unroll(m);
    return {stages.output, block};
}

// Sums of the block's rows, to which a tile's products are added.
void add_products(TensorProductStationary &stages, const Sizes &chosen, const LoopLevel &block) {
    const Tiles &t = chosen.tiles;
    const Var &m = stages.m, mv("mv"), mt("mt"), it("it");
    const RVar xt("xt");
    stages.sum.compute_at(block)
        .store_in(MemoryType::GPUShared)
        .bound_extent(m, t.tile_k)
        .bound_extent(stages.i, chosen.rows)
        .bound_extent(stages.g, 1)
        .bound_extent(stages.b, 1)
        .split(m, mv, m, kVector)
        .split(mv, mv, mt, t.threads_k)
        .split(stages.i, stages.i, it, t.threads_x)
        .reorder(m, mv, stages.i, mt, it, stages.g, stages.b)
        .gpu_threads(mt, it)
        .vectorize(m)
        .unroll(mv)
        .never_partition_all();
    Stage add = stages.sum.update();
    promise_distinct(add);
    add.split(m, mv, m, kVector)
        .split(mv, mv, mt, t.threads_k)
        .split(stages.r.x, xt, stages.r.x, t.tile_x / t.threads_x)
        .reorder(m, mv, stages.r.x, mt, xt, stages.g, stages.r.y, stages.b)
        .gpu_threads(mt, xt)
        .unroll(m)
        .unroll(mv)
        .unroll(stages.r.x)
        .never_partition_all();
}

}  // namespace

// A matrix product for each tile, of 64 pairs that are all there: a thread has 64 products in
// registers, which at a tile's end are added to the block's sums in shared memory. Each sum is one
// thread's in a tile, as a slot has a row once, and tiles come in the order of offsets: the order
// of a sum is that of slots. No row without a pair is multiplied, and what is not finite reaches
// none.
//
// A block has 64 channels of 192 rows: 4 * 192 * 64 bytes of sums and 4 * 8 * (68 + 68) of a slice
// of eight channels of both factors, 53504 in all, four blocks a multiprocessor. A slice is 512
// multiply-adds a thread to 32 loads of four floats, and to four loads of a vector from memory,
// which fetch_ahead() begins a slice before (as words: of those it keeps more). Both factors lie
// with the channels of the input outermost; what memory has next to each other across them is
// stored one by one.
//
// By the model of an H100 it is bound by instructions and shared memory alike (counts --list cloud
// --family tensor_product --type f32). Lost there: slots of 64 rows, of which half are there; 128
// rows, whose tiles are less full; 256 rows, three blocks a multiprocessor.
void tensor_product_tiled(TensorProductStationary &stages, const Context &context) {
    const Sizes chosen = sizes(context);
    const Tiles &t = chosen.tiles;
    const RDom &rc = stages.rc;
    const Block block(t, true, {stages.m, stages.i, stages.g, {stages.b}});
    add_products(stages, chosen, store_rows(stages, chosen));
    block.hold(stages.product, stages.output);
    stages.product.compute_at(stages.sum, stages.r.y).bound_extent(stages.s, 1);
    Stage update = stages.product.update();
    block.accumulate(update, {rc.x}, {rc.y});
    update.unroll(rc.x);

    const LoopLevel slice(stages.product, rc.y);
    const std::vector<std::pair<Var, int>> alone = {{stages.g, 1}, {stages.s, 1}, {stages.b, 1}};
    const auto stage = [&](Func &tile, std::vector<std::pair<Var, int>> extents, const Var &inner,
                           int length) {
        extents.insert(extents.end(), alone.begin(), alone.end());
        tile.align_storage(inner, length + 4);
        cooperative_copy(tile, slice, extents, block.threads(), kVector, true);
    };
    const std::pair<Var, int> channels(stages.c, t.tile_c), of_k(stages.m, t.tile_k);
    if (stages.transposed) {
        stages.matrix.reorder_storage(stages.m, stages.c, stages.g, stages.s, stages.b);
        stage(stages.matrix, {channels, of_k}, stages.m, t.tile_k);
    } else {
        stage(stages.matrix, {of_k, channels}, stages.m, t.tile_k);
    }
    stages.gathered.reorder_storage(stages.i, stages.c, stages.g, stages.s, stages.b);
    stage(stages.gathered, {channels, {stages.i, t.tile_x}}, stages.i, t.tile_x);
}

}  // namespace hk::schedules::gpu
