#include "schedules/gpu_block.h"
#include "schedules/tensor_product/tensor_product_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// A warp's threads are 4 by 8, as the fragments of a product have them: of each 8 neighbouring
// channels of the output two, and of 8 of the input one.
constexpr int kMatrix = 8, kLanesM = 4, kLanesC = 8, kOfLane = kMatrix / kLanesM;

struct MatrixTiles {
    int tile_m = 64, tile_c = 64;
    int warps_m = 2, warps_c = 2, stages = 4;

    int warps() const { return warps_m * warps_c; }
};

MatrixTiles matrix_tiles(const WeightGradientContext &context) {
    MatrixTiles t;
    Knobs knobs(context.knobs);
    knobs.take("tile_m", t.tile_m, powers(32, 256));
    knobs.take("tile_c", t.tile_c, powers(32, 256));
    knobs.take("warps_m", t.warps_m, powers(1, 8));
    knobs.take("warps_c", t.warps_c, powers(1, 8));
    knobs.take("stages", t.stages, steps(1, 8));
    knobs.end();
    const int sums = t.tile_m * t.tile_c / (32 * t.warps());
    knobs.require(t.tile_m % (kMatrix * t.warps_m) == 0, "warps_m divides tile_m / 8");
    knobs.require(t.tile_c % (2 * kMatrix * t.warps_c) == 0, "warps_c divides tile_c / 16");
    const int in_warp = std::min(t.tile_m, t.tile_c) * 4 / (kMatrix * kLanesM);
    knobs.require(t.warps() <= in_warp, "a warp copies vectors of four threads");
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", sums + sums / 2 + 32, 255);
    knobs.estimate("bytes of shared memory", 2 * t.stages * kProductPairs * (t.tile_m + t.tile_c),
                   96 * 1024);
    return t;
}

// The loops of a block, of parts and sums alike.
struct MatrixLoops {
    Var mi{"mi"}, mt{"mt"}, mw{"mw"}, m8{"m8"}, ci{"ci"}, ct{"ct"}, cw{"cw"};

    // Of 8 channels, m8 of which are left.
    void divide(Stage stage, const MatrixTiles &t) const {
        stage.split(m, mt, mi, kOfLane)
            .split(m8, mw, m8, t.tile_m / (kMatrix * t.warps_m))
            .split(c, ci, ct, kLanesC)
            .split(ci, cw, ci, t.tile_c / (kLanesC * t.warps_c));
    }
    std::vector<VarOrRVar> in_thread() const { return {mi, m8, ci}; }
    void run(Stage stage) const {
        const Var warp("warp");
        stage.fuse(mw, cw, warp).gpu_threads(mt, ct, warp).never_partition_all();
        stage.unroll(m8).unroll(ci);
    }
};

void sum_products(TensorProductBackwardWeightOffsets &stages, const MatrixTiles &t,
                  const LoopLevel &block, const RVar &steps) {
    const MatrixLoops l;
    Func &sum = stages.sum;
    sum.compute_at(block)
        .store_in(MemoryType::Register)
        .bound_extent(m, t.tile_m)
        .bound_extent(c, t.tile_c)
        .bound_extent(g, 1)
        .bound_extent(s, 1);
    const RVar product("product");
    for (const bool updates : {false, true}) {
        Stage stage = updates ? sum.update() : Stage(sum);
        stage.split(m, l.m8, m, kMatrix);
        l.divide(stage, t);
        std::vector<VarOrRVar> loops = l.in_thread();
        if (updates) {
            stage.rename(stages.pair.x, product).rename(stages.pair.y, steps);
            loops.emplace_back(product);
        }
        loops.insert(loops.end(), {g, l.mt, l.ct, l.mw, l.cw});
        if (updates) loops.emplace_back(steps);
        loops.emplace_back(s);
        stage.reorder(loops).unroll(l.mi);
        l.run(stage);
    }
}

// A thread copies several vectors of a pair's row, whose place it finds once; of more than four
// warps some copy other channels of the same pairs. Eight threads are of two pairs, which are in
// different banks (compiler/swizzle.h): neighbours where a row has 64 bytes, else four apart.
void copy_rows(Func rows, const Var &channel, int channels, int warps, const LoopLevel &step) {
    constexpr int pairs_at_once = kProductPairs / kLanesC;
    const int at_once = std::max(warps / pairs_at_once, 1);
    const Var lane("lane"), c8("c8"), cw("cw"), io("io"), ii("ii"), far("far");
    const Var t0("t0"), t1("t1"), t2("t2");
    rows.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage(channel, i, g, s)
        .bound_extent(channel, channels)
        .bound_extent(i, kProductPairs)
        .bound_extent(g, 1)
        .bound_extent(s, 1)
        .split(channel, c8, lane, kPairVector)
        .split(c8, c8, t0, kLanesM)
        .split(c8, cw, c8, channels / (kPairVector * kLanesM * at_once))
        .split(i, io, ii, kLanesC)
        .split(io, io, t2, std::min(warps, pairs_at_once));
    if (channels > kProductPairs)
        rows.split(ii, far, ii, kLanesC / 2).fuse(far, ii, t1);
    else
        rows.rename(ii, t1);
    rows.reorder(lane, c8, io, t0, t1, t2, cw, g, s)
        .fuse(t2, cw, t2)
        .vectorize(lane)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

}  // namespace

// A matrix product for each slice of an offset, as tensor_product_backward_weight() has it, by
// products of matrices, which compiler/tensor_cores.h makes of the loop `product`: a block computes
// 64 channels of the output by 64 of the input, a warp 32 by 32. Steps of 32 pairs pass through
// shared memory, `stages` of them on their way or there (compiler/async_copies.h): channels of a
// row next to each other, as memory has them, so that matrices are transposed as they are read.
// That is 16 products to 8 loads of four matrices, and 2 * 4 * 32 * (64 + 64) = 32768 bytes.
void tensor_product_backward_weight_matrices(TensorProductBackwardWeightOffsets &stages,
                                             const WeightGradientContext &context) {
    const MatrixTiles t = matrix_tiles(context);
    const MatrixLoops l;
    const Var mo("mo"), co("co"), go("go"), so("so"), block("block");
    add_slices(stages);
    stages.part.bound(m, 0, stages.output_channels)
        .bound(c, 0, stages.input_channels)
        .bound(g, 0, stages.groups)
        .bound(s, 0, stages.slices)
        .split(m, l.m8, m, kMatrix, TailStrategy::RoundUp)
        .split(l.m8, mo, l.m8, t.tile_m / kMatrix, guard)
        .split(c, co, c, t.tile_c, guard)
        .split(g, go, g, 1)
        .split(s, so, s, 1);
    l.divide(stages.part, t);
    stages.part.reorder({l.mi, l.m8, l.ci, g, l.mt, l.ct, l.mw, l.cw, s, mo, co, go, so})
        .fuse(go, so, block)
        .fuse(co, block, block)
        .fuse(mo, block, block)
        .gpu_blocks(block)
        .vectorize(l.mi);
    l.run(stages.part);

    const RVar steps("stages_" + std::to_string(t.stages));
    sum_products(stages, t, LoopLevel(stages.part, block), steps);
    const LoopLevel step(stages.sum, steps);
    copy_rows(stages.output_gradient, m, t.tile_m, t.warps(), step);
    copy_rows(stages.input, c, t.tile_c, t.warps(), step);
}

}  // namespace hk::schedules::gpu
