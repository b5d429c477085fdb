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

    Tiles of_rows() const {
        Tiles all = tiles;
        all.tile_x = rows;
        return all;
    }
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
    Tiles::estimate_shared(t.tile_c * (t.tile_k + 4 + t.tile_x + 4) + sizes.rows * t.tile_k, 4);
    return sizes;
}

}  // namespace

TensorProductStationarySizes tensor_product_tiled_sizes(const Context &context) {
    const Sizes chosen = sizes(context);
    return {chosen.rows, chosen.tiles.tile_c, chosen.tiles.tile_x};
}

void tensor_product_tiled(TensorProductStationary &stages, const Context &context) {
    const Sizes chosen = sizes(context);
    const Tiles &t = chosen.tiles;
    const RDom &rc = stages.rc, &r = stages.r, &rows = stages.rows;
    const Axes sums = {stages.m, stages.i, stages.g, {stages.b}};
    const Block block(t, true, sums, sums);
    const Block of_rows(chosen.of_rows(), true, sums, {stages.m, rows.x, stages.g, {rows.y}});
    // Of the undefined: it is dropped, but else asks for the host.
    stages.output.gpu_single_thread();
    promise_distinct(stages.output.update());
    of_rows.tile(stages.output.update());
    of_rows.hold(stages.sum, stages.output);
    stages.sum.store_in(MemoryType::GPUShared);

    const Var mg("mg"), kt("kt"), ki("ki");
    const RVar xt("xt"), xi("xi");
    const int vector = std::min(t.tile_k / t.threads_k, 4);
    Stage add = stages.sum.update();
    promise_distinct(add);
    add.split(stages.m, mg, stages.m, vector * t.threads_k)
        .split(stages.m, kt, ki, vector)
        .split(r.x, xt, xi, t.tile_x / t.threads_x)
        .reorder(ki, mg, xi, kt, xt, stages.g, r.y, stages.b)
        .gpu_threads(kt, xt)
        .unroll(ki)
        .unroll(mg)
        .unroll(xi)
        .never_partition_all();

    block.hold(stages.product, stages.output);
    stages.product.compute_at(stages.sum, r.y).bound_extent(stages.s, 1);
    Stage update = stages.product.update();
    block.accumulate(update, {rc.x}, {rc.y});
    update.unroll(rc.x);

    const LoopLevel slice(stages.product, rc.y);
    const std::vector<std::pair<Var, int>> alone = {{stages.g, 1}, {stages.s, 1}, {stages.b, 1}};
    const auto stage = [&](Func &tile, std::vector<std::pair<Var, int>> extents, const Var &inner,
                           int length) {
        extents.insert(extents.end(), alone.begin(), alone.end());
        tile.align_storage(inner, length + 4);
        cooperative_copy(tile, slice, extents, block.threads(), 4, true);
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
