#include "schedules/gpu_block.h"
#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// A warp's threads are 4 by 8, as the fragments of a product have them: of neighbours among the
// output's channels, and of a row.
constexpr int kLanesM = 4, kLanesI = 8, kMatrix = 8;

struct ProductTiles {
    int tile_m = 64, tile_i = 64;
    int warps_m = 2, warps_i = 2;

    int warps() const { return warps_m * warps_i; }
    std::vector<int> threads() const { return {kLanesM, kLanesI, warps()}; }
};

ProductTiles product_tiles(const Context &context) {
    ProductTiles t;
    Knobs knobs(context.knobs);
    knobs.take("tile_m", t.tile_m, powers(32, 256));
    knobs.take("tile_i", t.tile_i, powers(16, 128));
    knobs.take("warps_m", t.warps_m, powers(1, 8));
    knobs.take("warps_i", t.warps_i, powers(1, 8));
    knobs.end();
    const int sums = t.tile_m * t.tile_i / (32 * t.warps());
    knobs.require(t.tile_m % (kLanesM * kMatrix * t.warps_m) == 0, "warps_m divides tile_m / 32");
    knobs.require(t.tile_i % (2 * kLanesI * t.warps_i) == 0, "warps_i divides tile_i / 16");
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", 2 * sums + sums / 2 + 32, 255);
    knobs.estimate("bytes of shared memory", 2 * kProductChannels * (t.tile_m + t.tile_i),
                   48 * 1024);
    return t;
}

// The loops of a block, of the output and of its sums alike: `row` counts its rows.
struct ProductLoops {
    // Of a weight that is `transposed` a thread has 8 neighbours of each 32 channels, else two of
    // each 8.
    ProductLoops(const TensorProductStationary &stages, const VarOrRVar &row)
        : m(stages.m),
          row(row),
          xi("xi", row.is_rvar),
          xt("xt", row.is_rvar),
          xw("xw", row.is_rvar),
          warp("warp", row.is_rvar),
          neighbours(stages.transposed ? kMatrix : kMatrix / kLanesM),
          of_threads(kLanesM * neighbours) {}

    const Var m;
    const VarOrRVar row, xi, xt, xw, warp;
    const int neighbours, of_threads;
    Var mi{"mi"}, mt{"mt"}, mg{"mg"}, mw{"mw"};

    // Of vectors of channels, which are `mg`, and of the channels of one of them.
    void divide(Stage stage, const ProductTiles &t) const {
        const int groups = t.tile_m / (of_threads * t.warps_m);
        if (of_threads > kMatrix) {
            stage.rename(m, mi).split(mg, mg, mt, kLanesM);
        } else {
            stage.split(m, mt, mi, neighbours);
        }
        stage.split(mg, mw, mg, groups)
            .split(row, xi, xt, kLanesI)
            .split(xi, xw, xi, t.tile_i / (kLanesI * t.warps_i));
    }
    std::vector<VarOrRVar> in_thread() const { return {mi, mg, xi}; }
    std::vector<VarOrRVar> threads() const { return {mt, xt, mw, xw}; }
    void run(Stage stage) const {
        stage.fuse(mw, xw, warp).gpu_threads(mt, xt, warp).never_partition_all();
    }
    void unroll(Stage stage) const { stage.unroll(mi).unroll(mg).unroll(xi); }
};

// Sums of a block in registers, over `steps`.
void hold(const TensorProductStationary &stages, Func sums, const ProductTiles &t,
          const std::vector<VarOrRVar> &inside, const std::vector<VarOrRVar> &steps) {
    const ProductLoops l(stages, stages.i);
    sums.store_in(MemoryType::Register)
        .bound_extent(stages.m, t.tile_m)
        .bound_extent(stages.i, t.tile_i)
        .bound_extent(stages.g, 1)
        .bound_extent(stages.b, 1);
    const bool of_slot = sums.dimensions() == 5;
    if (of_slot) sums.bound_extent(stages.s, 1);
    for (const bool updates : {false, true}) {
        Stage stage = updates ? sums.update() : Stage(sums);
        stage.split(l.m, l.mg, l.m, kMatrix);
        l.divide(stage, t);
        std::vector<VarOrRVar> loops = l.in_thread();
        const auto append = [&](const std::vector<VarOrRVar> &more) {
            loops.insert(loops.end(), more.begin(), more.end());
        };
        if (updates) append(inside);
        loops.emplace_back(stages.g);
        append(l.threads());
        if (updates) append(steps);
        if (of_slot) loops.emplace_back(stages.s);
        loops.emplace_back(stages.b);
        stage.reorder(loops);
        l.run(stage);
        l.unroll(stage);
    }
}

}  // namespace

TensorProductStationarySizes tensor_product_matrix_sizes(const Context &context) {
    return {product_tiles(context).tile_i, kProductChannels};
}

// A matrix product for each slot, as tensor_product_stationary() of stationary.cpp has it, by
// products of matrices, which compiler/tensor_cores.h makes of the loop `product`: a block computes
// 64 channels of 64 rows, a warp 32 of 32. Slices of 32 channels of the slot's weight and of the
// gathered rows pass through shared memory, 2 * 32 * (64 + 64) = 8192 bytes, by vectors: two of
// each factor a thread, which fetch_ahead() loads while the slice before is multiplied. That is 16
// products to 8 loads of four matrices.
//
// A thread has 32 sums, and 32 of the slot's product, which are added once a slot where the row has
// a pair in it. They are why copies are not asynchronous: compiler/async_copies.h has one nest of
// loops, of copies and products alone. Lost: a product by zeros of rows without a pair, which has
// no sums of its own, but makes NaN of what is not finite.
//
// 32: of a narrow output 32 channels, by two warps. 128: a warp has 64 channels of 32 rows, 64 sums
// a thread, 32 products to 12 loads of four matrices: what bounds wide channels is shared memory.
//
// Lost: tiles of pairs that are all there, as tiled.cpp has them, with up to 128 of them. Slots are
// half full; but a sum in shared memory is loaded and stored for each pair, 8 bytes, which is more
// than its operands take up to 64 channels, and 4 by 8 threads meet in banks there.
//
// What is next to each other in the weight is either: channels of the output, which are across the
// terms, or, where the weight is turned round, those of the input, which are along them.
void tensor_product_matrices(TensorProductStationary &stages, const Context &context) {
    const ProductTiles t = product_tiles(context);
    const RDom &rows = stages.rows;
    const ProductLoops l(stages, rows.x);
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var mo("mo"), go("go");
    const RVar bo("bo"), block("block");
    // Of the undefined: it is dropped, but else asks for the host.
    stages.output.gpu_single_thread();
    Stage out = stages.output.update();
    promise_distinct(out);
    out.split(l.m, l.mg, l.m, kMatrix, TailStrategy::RoundUp)
        .split(l.mg, mo, l.mg, t.tile_m / kMatrix, guard)
        .split(stages.g, go, stages.g, 1)
        .split(rows.y, bo, rows.y, 1);
    l.divide(out, t);
    std::vector<VarOrRVar> loops = l.in_thread();
    for (const VarOrRVar &loop : l.threads()) loops.push_back(loop);
    loops.insert(loops.end(), {stages.g, rows.y, mo, go, bo});
    out.reorder(loops).fuse(go, bo, block).fuse(mo, block, block).gpu_blocks(block);
    l.run(out);
    out.vectorize(l.mi).unroll(l.mg).unroll(l.xi);
    // One by one: LLVM 21 stores two f32 that are rounded to f16 together as if they were it.
    stages.rounded.compute_at(stages.output, l.mg)
        .store_in(MemoryType::Register)
        .bound_extent(stages.m, l.neighbours)
        .unroll(stages.m);

    hold(stages, stages.sum.compute_at(LoopLevel(stages.output, block)), t, {}, {stages.r});
    const RVar product("product");
    stages.product.update().rename(stages.rc.x, product);
    hold(stages, stages.product.compute_at(stages.sum, stages.r), t, {product}, {stages.rc.y});

    const LoopLevel slice(stages.product, stages.rc.y);
    const auto stage = [&](Func &factor, const Var &inner, int length, const Var &outer,
                           int count) {
        factor.reorder_storage({inner, outer, stages.g, stages.s, stages.b});
        cooperative_copy(
            factor, slice,
            {{inner, length}, {outer, count}, {stages.g, 1}, {stages.s, 1}, {stages.b, 1}},
            t.threads(), kMatrix, true);
    };
    if (stages.transposed)
        stage(stages.matrix, stages.c, kProductChannels, stages.m, t.tile_m);
    else
        stage(stages.matrix, stages.m, t.tile_m, stages.c, kProductChannels);
    stage(stages.gathered, stages.c, kProductChannels, stages.i, t.tile_i);
}

}  // namespace hk::schedules::gpu
