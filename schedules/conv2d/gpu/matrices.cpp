#include "schedules/conv2d/gpu/staged.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// A warp's threads are 4 by 8, as the fragments of a product have them: neighbours of 8 output
// channels each, and of a pixel.
constexpr int kLanesK = 4, kLanesX = 8, kOfLane = kProductVector, kOfWarp = kLanesK * kOfLane;

struct MatrixTiles {
    int tile_k = 128, tile_x = 128;
    int warps_k = 4, warps_x = 2, stages = 3;

    int warps() const { return warps_k * warps_x; }
};

MatrixTiles matrix_tiles(const Conv2dContext &context) {
    MatrixTiles t;
    Knobs knobs(context.knobs);
    knobs.take("tile_k", t.tile_k, powers(32, 256));
    knobs.take("tile_x", t.tile_x, powers(16, 256));
    knobs.take("warps_k", t.warps_k, powers(1, 8));
    knobs.take("warps_x", t.warps_x, powers(1, 8));
    knobs.take("stages", t.stages, steps(1, 8));
    knobs.end();
    const int sums = t.tile_k * t.tile_x / (32 * t.warps());
    knobs.require(t.tile_k % (kOfWarp * t.warps_k) == 0, "warps_k divides tile_k / 32");
    knobs.require(t.tile_x % (2 * kLanesX * t.warps_x) == 0, "warps_x divides tile_x / 16");
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", sums + sums / 2 + 32, 255);
    knobs.estimate("bytes of shared memory",
                   2 * t.stages * kProductChannels * (t.tile_k + t.tile_x), 96 * 1024);
    return t;
}

// The loops of a block, for its output and its sums alike.
struct MatrixLoops {
    Var ki{"ki"}, kt{"kt"}, kg{"kg"}, kw{"kw"}, px{"px"}, xi{"xi"}, xw{"xw"};

    void divide(Stage stage, const MatrixTiles &t, const Var &k8) const {
        stage.split(k8, kg, kt, kLanesK)
            .split(kg, kw, kg, t.tile_k / (kOfWarp * t.warps_k))
            .split(x, xi, px, kLanesX)
            .split(xi, xw, xi, t.tile_x / (kLanesX * t.warps_x));
    }
    void run(Stage stage) const {
        const Var warp("warp");
        stage.fuse(kw, xw, warp).gpu_threads(kt, px, warp).never_partition_all();
    }
};

}  // namespace

// A warp computes 32 output channels, or a multiple, at pairs of 8 pixels, by products of matrices, which
// compiler/tensor_cores.h makes of the loop `product`. Slices of 32 channels pass through shared memory,
// of both factors: 64 bytes a filter, or a pixel, of which a thread reads 16 at once: neighbouring ones
// of a row and of two rows, all banks once.
void matrices(Conv2dSliced &stages, const Conv2dContext &context) {
    const MatrixTiles t = matrix_tiles(context);
    const MatrixLoops l;
    const std::vector<int> threads = {kLanesK, kLanesX, t.warps()};
    constexpr auto guard = TailStrategy::GuardWithIf;
    Var k8("k8"), ko("ko"), xo("xo"), yo("yo"), go("go"), block("block");

    Func out = stages.output;
    out.split(k, k8, l.ki, kOfLane, TailStrategy::RoundUp)
        .split(k8, ko, k8, t.tile_k / kOfLane, guard)
        .split(x, xo, x, t.tile_x, guard)
        .split(y, yo, y, 1)
        .split(g, go, g, 1);
    l.divide(out, t, k8);
    out.reorder({l.ki, l.kg, l.xi, l.kt, l.px, l.kw, l.xw, g, y, ko, go, xo, yo, n})
        .fuse(yo, n, block)
        .fuse(xo, block, block)
        .fuse(go, block, block)
        .fuse(ko, block, block)
        .gpu_blocks(block)
        .vectorize(l.ki);
    l.run(out);
    out.specialize(!context.smooth).unroll(l.kg).unroll(l.xi);

    stages.sum.compute_at(out, block)
        .store_in(MemoryType::Register)
        .bound_extent(k, t.tile_k)
        .bound_extent(x, t.tile_x)
        .bound_extent(y, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1);
    const RDom &d = stages.r;
    RVar product("product"), slice("slice"), slices("stages_" + std::to_string(t.stages));
    for (const bool updates : {false, true}) {
        Stage stage = updates ? stages.sum.update() : Stage(stages.sum);
        stage.split(k, k8, l.ki, kOfLane);
        l.divide(stage, t, k8);
        std::vector<VarOrRVar> loops = {l.ki, l.kg, l.xi};
        if (updates) {
            stage.split(d.x, slice, product, kProductChannels);
            loops.insert(loops.end(), {product, slice});
        }
        loops.insert(loops.end(), {l.kt, l.px, l.kw, l.xw});
        if (updates) loops.insert(loops.end(), {d.y, d.z, slices});
        loops.insert(loops.end(), {g, y, n});
        if (updates) stage.rename(d.w, slices);
        stage.reorder(loops).unroll(l.ki).unroll(l.kg).unroll(l.xi);
        l.run(stage);
    }

    const LoopLevel step(stages.sum, d.y);
    stages.filter.reorder_storage(c, k, s, r, g);
    cooperative_copy(stages.filter, step, {{c, kProductChannels}, {s, 1}, {r, 1}, {k, t.tile_k}, {g, 1}},
                     threads, kProductVector, true);
    stages.tap.reorder_storage({c, x, y, s, r, g, n});
    cooperative_copy(stages.tap, step,
                     {{c, kProductChannels}, {g, 1}, {x, t.tile_x}, {y, 1}, {n, 1}, {s, 1}, {r, 1}},
                     threads, kProductVector, true);
    cooperative_copy(stages.start, LoopLevel(out, block), {{k, t.tile_k}, {g, 1}}, threads);
}

}  // namespace hk::schedules::gpu
