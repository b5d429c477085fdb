#include "schedules/gpu_block.h"
#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// Of output channels (as k), rows of a block (as x) and blocks (as y); tile_c is of input channels.
Tiles tiles(const Context &context) {
    const bool staged = context.schedule != "unstaged";
    Tiles t = staged ? Tiles{64, 64, 1, 16, 16, 16, 1} : Tiles{16, 32, 1, 1, 8, 16, 1};
    Knobs knobs(context.knobs);
    t.take(knobs, staged, false);
    knobs.end();
    return t;
}

Block block_of(TensorProductStationary &stages, const Context &context) {
    const RDom &rows = stages.rows;
    return {tiles(context),
            true,
            {stages.m, stages.i, stages.g, {stages.b}},
            {stages.m, rows.x, stages.g, {rows.y}}};
}

}  // namespace

TensorProductStationarySizes tensor_product_stationary_sizes(const Context &context) {
    const Tiles t = tiles(context);
    return {t.tile_x, t.tile_c};
}

// A matrix product for each slot: a block computes 64 channels of 64 rows, 16 sums a thread in
// registers, while slices of 16 channels of the slot's weight and of the gathered rows pass through
// shared memory: 4 * 16 * (68 + 68) = 8704 bytes whatever the problem is; 256 FMAs a thread to 32
// loads of four floats from them, and to eight loads from global memory. Rows are 68 floats, as in
// conv2d's. A slot's products are 16 registers more, added once a slot where a row has a pair in
// it: what an empty place gathers, and a weight that is not finite, reach no row without that pair.
// Lost: a condition in each FMA, or a product by 0, which keeps NaN.
//
// The number of a block's slots is in memory. The loop goes over `most`, the largest of all blocks,
// and its body is in one `if`, the same for all threads of the block, around the barriers; a block
// with fewer slots runs through the rest of the loop without one. Halide moves the condition there
// only where it is loaded from a buffer, not from a Func over it, and depends on an outermost loop
// of the sum: b is alone, and g, of which a block has one, is a thread's.
//
// few: 32 channels of 64 rows, 6656 bytes, for a narrow output. small: 32 of 32 in slices of eight,
// 2304 bytes.
//   tensor_product_stationary.generator -g tensor_product_stationary -f any -o . -e resources
//       target=host-cuda-cuda_capability_80 algorithm=slots schedule=staged
void tensor_product_stationary(TensorProductStationary &stages, const Context &context) {
    const Block block = block_of(stages, context);
    const Tiles &t = block.tiles();
    const RDom &rc = stages.rc, &r = stages.r;
    // Of the undefined: it is dropped, but else asks for the host.
    stages.output.gpu_single_thread();
    promise_distinct(stages.output.update());
    block.tile(stages.output.update());
    block.hold(stages.sum, stages.output);
    block.accumulate(stages.sum.update(), {}, {r});
    block.hold(stages.product, stages.output);
    stages.product.compute_at(stages.sum, r).bound_extent(stages.s, 1);
    Stage update = stages.product.update();
    block.accumulate(update, {rc.x}, {rc.y});
    if (t.sums() <= 32) update.unroll(rc.x);

    const LoopLevel slice(stages.product, rc.y);
    const std::vector<std::pair<Var, int>> alone = {{stages.g, 1}, {stages.s, 1}, {stages.b, 1}};
    Tiles::estimate_shared(t.tile_c * (t.tile_k + 4 + t.tile_x + 4),
                           stages.gathered.type().bytes());
    const auto stage = [&](Func &tile, std::vector<std::pair<Var, int>> extents, const Var &inner,
                           int length) {
        extents.insert(extents.end(), alone.begin(), alone.end());
        tile.align_storage(inner, length + 4);
        cooperative_copy(tile, slice, extents, block.threads());
    };
    stage(stages.matrix, {{stages.m, t.tile_k}, {stages.c, t.tile_c}}, stages.m, t.tile_k);
    stages.gathered.reorder_storage(stages.i, stages.c, stages.g, stages.s, stages.b);
    stage(stages.gathered, {{stages.c, t.tile_c}, {stages.i, t.tile_x}}, stages.i, t.tile_x);
}

// The last rung: no shared memory and 128 threads. A thread computes two channels of two rows, four
// FMAs to four loads from global memory and its caches.
void tensor_product_stationary_unstaged(TensorProductStationary &stages, const Context &context) {
    const Block block = block_of(stages, context);
    const Tiles &t = block.tiles();
    // Of the undefined: it is dropped, but else asks for the host.
    stages.output.gpu_single_thread();
    promise_distinct(stages.output.update());
    block.tile(stages.output.update(), Block::Unroll::all);
    const auto hold = [&](Func &sums, const LoopLevel &at, const std::vector<VarOrRVar> &steps) {
        std::vector<VarOrRVar> loops = {stages.m, stages.i};
        loops.insert(loops.end(), steps.begin(), steps.end());
        sums.compute_at(at)
            .store_in(MemoryType::Register)
            .bound_extent(stages.m, t.tile_k / t.threads_k)
            .bound_extent(stages.i, t.tile_x / t.threads_x)
            .unroll(stages.m)
            .unroll(stages.i)
            .update()
            .reorder(loops)
            .unroll(stages.m)
            .unroll(stages.i)
            .never_partition_all();
    };
    hold(stages.sum, LoopLevel(stages.output, Var("kt")), {stages.r});
    hold(stages.product, LoopLevel(stages.sum, stages.r), {stages.rc.x, stages.rc.y});
}

}  // namespace hk::schedules::gpu
