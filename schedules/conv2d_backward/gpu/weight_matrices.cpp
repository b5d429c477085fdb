#include "schedules/conv2d/gpu/channels_last.h"
#include "schedules/conv2d_backward/conv2d_backward_weight.h"
#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// A warp's threads are 4 by 8, as the fragments of a product have them: of each 8 neighbouring
// channels two, and of 8 filters one; of 16 two where elements have 32 bits.
constexpr int kMatrix = 8, kLanesC = 4, kLanesK = 8, kOfLane = kMatrix / kLanesC;

// The dimensions of a filter that have a block for each element. Split by one, else Halide takes
// all elements of what is fused for the bounds of one.
struct Alone {
    Var so{"so"}, ro{"ro"}, go{"go"};

    explicit Alone(Stage stage) { stage.split(s, so, s, 1).split(r, ro, r, 1).split(g, go, g, 1); }
};

struct MatrixTiles {
    int tile_k = 64, tile_c = 128;
    int warps_k = 1, warps_c = 4, stages = 4;

    int bytes;      // of an element
    int of_lane_k;  // neighbouring filters of a thread

    explicit MatrixTiles(const Type &type) : bytes(type.bytes()), of_lane_k(bytes == 4 ? 2 : 1) {}

    int warps() const { return warps_k * warps_c; }
    std::vector<int> threads() const { return {kLanesC, kLanesK, warps()}; }
};

MatrixTiles matrix_tiles(const Type &type, const Conv2dBackwardWeightContext &context) {
    MatrixTiles t(type);
    Knobs knobs(context.knobs);
    knobs.take("tile_k", t.tile_k, powers(32, 256));
    knobs.take("tile_c", t.tile_c, powers(32, 256));
    knobs.take("warps_k", t.warps_k, powers(1, 8));
    knobs.take("warps_c", t.warps_c, powers(1, 8));
    knobs.take("stages", t.stages, steps(1, 8));
    knobs.end();
    const int sums = t.tile_k * t.tile_c / (32 * t.warps());
    knobs.require(t.tile_k % (2 * kMatrix * t.warps_k) == 0, "warps_k divides tile_k / 16");
    knobs.require(t.tile_c % (kMatrix * t.warps_c) == 0, "warps_c divides tile_c / 8");
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", sums + sums / 2 + 32, 255);
    knobs.estimate("bytes of shared memory",
                   t.bytes * t.stages * kProductPixels * (t.tile_k + t.tile_c), 96 * 1024);
    return t;
}

// The loops of a block, of parts and sums alike.
struct MatrixLoops {
    Var ci{"ci"}, ct{"ct"}, cw{"cw"}, c8{"c8"}, k2{"k2"}, ki{"ki"}, kt{"kt"}, kw{"kw"};
    const bool pairs;  // of neighbouring filters

    explicit MatrixLoops(const MatrixTiles &t) : pairs(t.of_lane_k > 1) {}

    // Of 8 channels, c8 of which are left.
    void divide(Stage stage, const MatrixTiles &t) const {
        if (pairs) stage.split(k, k, k2, t.of_lane_k);
        stage.split(c, ct, ci, kOfLane)
            .split(c8, cw, c8, t.tile_c / (kMatrix * t.warps_c))
            .split(k, ki, kt, kLanesK)
            .split(ki, kw, ki, t.tile_k / (kLanesK * t.of_lane_k * t.warps_k));
    }
    std::vector<VarOrRVar> in_thread() const {
        return pairs ? std::vector<VarOrRVar>{ci, c8, k2, ki} : std::vector<VarOrRVar>{ci, c8, ki};
    }
    void run(Stage stage) const {
        const Var warp("warp");
        stage.fuse(cw, kw, warp).gpu_threads(ct, kt, warp).never_partition_all();
        stage.unroll(c8).unroll(ki);
        if (pairs) stage.unroll(k2);
    }
};

void sum_products(Conv2dBackwardWeightProducts &stages, const MatrixTiles &t,
                  const LoopLevel &block) {
    const MatrixLoops l(t);
    const RDom &d = stages.r;
    Func &sum = stages.sum;
    sum.compute_at(block)
        .store_in(MemoryType::Register)
        .bound_extent(c, t.tile_c)
        .bound_extent(k, t.tile_k);
    for (const Var &one : {s, r, g, stages.part}) sum.bound_extent(one, 1);
    RVar product("product"), slices("stages_" + std::to_string(t.stages));
    for (const bool updates : {false, true}) {
        Stage stage = updates ? sum.update() : Stage(sum);
        stage.split(c, l.c8, c, kMatrix);
        l.divide(stage, t);
        std::vector<VarOrRVar> loops = l.in_thread();
        if (updates) {
            stage.rename(d.x, product).rename(d.y, slices);
            loops.emplace_back(product);
        }
        loops.insert(loops.end(), {l.ct, l.kt, l.cw, l.kw});
        if (updates) loops.emplace_back(slices);
        loops.insert(loops.end(), {s, r, g, stages.part});
        stage.reorder(loops).unroll(l.ci);
        l.run(stage);
    }
}

// A thread copies several vectors of one pixel, whose place it finds once. Eight threads are of two
// pixels, which are in different banks (compiler/swizzle.h): neighbours where a pixel has 64 bytes,
// else four apart, or two where elements have 32 bits.
void copy_taps(Func tap, const MatrixTiles &t, const LoopLevel &step) {
    Var lane("lane"), c8("c8"), xo("xo"), xi("xi"), t0("t0"), t1("t1"), t2("t2");
    tap.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .bound_extent(c, t.tile_c)
        .bound_extent(x, kProductPixels)
        .split(c, c8, lane, pixel_vector(tap.type()))
        .split(c8, c8, t0, kLanesC)
        .split(x, xo, xi, kLanesK)
        .split(xo, xo, t2, t.warps(), guard);
    for (const Var &one : {s, r, g}) tap.bound_extent(one, 1);
    const Var far("far");
    if (t.of_lane_k > 1) {
        const Var near("near");
        tap.split(xi, xi, near, 2).split(xi, xi, far, 2).fuse(far, near, t1).fuse(t1, xi, t1);
    } else if (t.tile_c > kProductPixels) {
        tap.split(xi, far, xi, kLanesK / 2).fuse(far, xi, t1);
    } else {
        tap.rename(xi, t1);
    }
    tap.reorder(lane, c8, xo, t0, t1, t2, s, r, g)
        .vectorize(lane)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

// What blocks have computed, added up: a thread reads four neighbours of its share of the parts,
// and one for all shares writes them.
void add_up(Conv2dBackwardWeightProducts &stages) {
    constexpr int vector = 4, threads_c = 8, threads_k = 4;
    Var co("co"), ct("ct"), ci("ci"), ko("ko"), kt("kt"), block("block");
    const bool in_rows = stages.copied_input.to.defined();
    Func out = stages.output;
    // Rows have any number of channels, which neither begin in vectors nor are next to each other:
    // a thread writes every eighth, so that its neighbours read other banks.
    if (in_rows)
        out.split(c, co, c, vector * threads_c, guard).split(c, ci, ct, threads_c);
    else
        out.split(c, c, ci, vector, TailStrategy::RoundUp).split(c, co, ct, threads_c, guard);
    out.split(k, ko, kt, threads_k, guard);
    const Alone alone(out);
    out.reorder(ci, ct, kt, s, r, g, co, alone.so, alone.ro, ko, alone.go)
        .fuse(ko, alone.go, block)
        .fuse(alone.ro, block, block)
        .fuse(alone.so, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(ct, kt)
        .never_partition_all();
    in_rows ? out.unroll(ci) : out.vectorize(ci);
    stages.shares.compute_at(out, block)
        .store_in(MemoryType::GPUShared)
        .bound_extent(c, vector * threads_c)
        .bound_extent(k, threads_k)
        .split(c, ct, ci, vector)
        .reorder(ci, ct, k, stages.share, s, r, g)
        .gpu_threads(ct, k, stages.share)
        .vectorize(ci)
        .never_partition_all();
    for (const Var &one : {s, r, g}) stages.shares.bound_extent(one, 1);
    // Rows of k begin in other banks, where a warp reads a channel of eight of each.
    if (in_rows) stages.shares.align_storage(c, vector * threads_c + threads_c);
    stages.running.compute_at(stages.shares, ct)
        .store_in(MemoryType::Register)
        .bound_extent(c, vector)
        .vectorize(c);
    stages.running.update().reorder(c, stages.of).vectorize(c).never_partition_all();
}

}  // namespace

// A matrix product for each tap: a block computes 64 filters by 128 channels of one tap over a part
// of the pixels, a warp 64 by 32, by products of matrices, which compiler/tensor_cores.h makes of
// the loop `product`. Slices of 32 pixels of the output's gradient, and of what the tap meets of
// the input, pass through shared memory, `stages` of them on their way or there
// (compiler/async_copies.h): channels of a pixel next to each other, as memory has them, so that
// matrices are transposed as they are read. That is 32 products to 12 loads of four matrices, and
// 2 * 4 * 32 * (64 + 128) = 49152 bytes; of f32 64 products to 64 loads of words, which no
// instruction transposes.
//
// Pixels of all images are one line, of which a part is as long as the caller says, who knows how
// many blocks that gives. Blocks of a part, which read the same pixels, follow one another.
void backward_weight_matrices(Conv2dBackwardWeightProducts &stages,
                              const Conv2dBackwardWeightContext &context) {
    const MatrixTiles t = matrix_tiles(stages.gradient.type(), context);
    const MatrixLoops l(t);
    Var co("co"), ko("ko"), block("block");
    Func partial = stages.partial;
    partial.compute_root()
        .bound(c, 0, stages.channels)
        .bound(s, 0, stages.kernel_w)
        .bound(r, 0, stages.kernel_h)
        .bound(k, 0, stages.filters)
        .bound(g, 0, context.groups)
        .bound(stages.part, 0, stages.parts)
        .split(c, l.c8, c, kMatrix, TailStrategy::RoundUp)
        .split(l.c8, co, l.c8, t.tile_c / kMatrix, guard)
        .split(k, ko, k, t.tile_k, guard);
    const Alone alone(partial);
    l.divide(partial, t);
    std::vector<VarOrRVar> loops = l.in_thread();
    loops.insert(loops.end(), {l.ct, l.kt, l.cw, l.kw, s, r, g, co, alone.so, alone.ro, ko,
                               alone.go, stages.part});
    partial.reorder(loops)
        .fuse(alone.go, stages.part, block)
        .fuse(ko, block, block)
        .fuse(alone.ro, block, block)
        .fuse(alone.so, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .vectorize(l.ci);
    l.run(partial);

    sum_products(stages, t, LoopLevel(partial, block));
    const LoopLevel step(stages.sum, RVar("stages_" + std::to_string(t.stages)));
    stages.gradient.reorder_storage(k, x, g);
    cooperative_copy(stages.gradient, step, {{k, t.tile_k}, {g, 1}, {x, kProductPixels}},
                     t.threads(), pixel_vector(stages.gradient.type()), true);
    stages.tap.reorder_storage({c, x, s, r, g});
    copy_taps(stages.tap, t, step);
    add_up(stages);
    for (const CopiedLine &line : {stages.copied_gradient, stages.copied_input})
        if (line.to.defined())
            copy_image({line.tile, line.to, line.channels, line.pixels, context.groups});
}

}  // namespace hk::schedules::gpu
