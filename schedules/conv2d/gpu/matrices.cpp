#include "schedules/conv2d/gpu/matrices.h"

#include "runtime/src/convolution/halo_sizes.h"
#include "schedules/conv2d/gpu/channels_last.h"
#include "schedules/conv2d/gpu/matrix_factors.h"
#include "schedules/conv2d/gpu/staged.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

int product_lanes(const Conv2dContext &context) {
    const bool reads_rows = context.schedule == "outer_products" && !context.nhwc;
    return reads_rows ? gpu::outer_tiles(context, true).lanes_x : 0;
}

// Vectors of channels of 16 bits would need more registers.
bool finishes_in_loops(const Conv2dContext &context) {
    return context.schedule == "outer_products" || !context.nhwc;
}

int product_row_vector(const Conv2dContext &context) {
    if (context.schedule == "outer_products") return gpu::kWords;
    return gpu::matrix_tiles(context, 1, powers(4, 8)).vector;
}

int stored_pixels(int row_vector, const Conv2dContext &context) {
    if (row_vector == 0) return 1;
    return context.schedule == "outer_products" ? row_vector : kStoredPair;
}

HaloTile product_halo(const Conv2dContext &context) {
    const gpu::MatrixTiles t = gpu::matrix_tiles(context, 1, {}, true);
    return {t.tile_x, t.halo};
}

namespace gpu {

namespace {

constexpr int kHaloStages = 2;
constexpr int kOuterChannels = kWords;  // that a load has

// The loops of a block, for its output and its sums alike. `pixel`: what counts the pixels.
struct MatrixLoops {
    explicit MatrixLoops(const VarOrRVar &pixel = x)
        : pixel(pixel),
          px("px", pixel.is_rvar),
          xe("xe", pixel.is_rvar),
          xh("xh", pixel.is_rvar),
          xi("xi", pixel.is_rvar),
          xw("xw", pixel.is_rvar),
          warp("warp", pixel.is_rvar) {}

    VarOrRVar pixel, px, xe, xh, xi, xw, warp;
    Var ki{"ki"}, kt{"kt"}, kg{"kg"}, kw{"kw"};

    // `vector`: neighbouring pixels that are one of the loop's; where those are all of a thread's
    // neighbours, a pixel's place is found outside of the loops over output channels.
    void divide(Stage stage, const MatrixTiles &t, const Var &k8, int vector = 1) const {
        if (t.pixels_of_lane > vector) stage.split(pixel, pixel, xe, t.pixels_of_lane / vector);
        stage.split(k8, kg, kt, t.lanes_k)
            .split(kg, kw, kg, t.tile_k / (t.of_warp() * t.warps_k))
            .split(pixel, xi, px, t.lanes_x)
            .split(xi, xw, xi, t.tile_x / (t.pixels_of_warp() * t.warps_x));
    }
    // The loops of a thread's sums, and of a warp's threads, innermost first.
    std::vector<VarOrRVar> of_warp(const MatrixTiles &t, int vector = 1,
                                   bool in_turns = false) const {
        std::vector<VarOrRVar> loops = of_thread(t, vector, in_turns);
        loops.insert(loops.end(), {t.pixels_first ? px : kt, t.pixels_first ? kt : px, kw, xw, g});
        return loops;
    }
    // Turns are in the order of registers (compiler/turned_registers.h).
    std::vector<VarOrRVar> of_thread(const MatrixTiles &t, int vector = 1,
                                     bool in_turns = false) const {
        if (t.pixels_of_lane == vector) return {ki, kg, xi};
        if (in_turns) return {xe, xi, ki, kg};
        return {xe, ki, kg, xi};
    }
    void unroll_sums(Stage stage, const MatrixTiles &t, int vector = 1) const {
        if (t.pixels_of_lane > vector) stage.unroll(xe);
        stage.unroll(kg).unroll(xi);
    }
    void run(Stage stage, const MatrixTiles &t) const {
        stage.fuse(kw, xw, warp).never_partition_all();
        t.pixels_first ? stage.gpu_threads(px, kt, warp) : stage.gpu_threads(kt, px, warp);
    }
};

MatrixLoops loops_of_output(const Conv2dSliced &stages) {
    if (!stages.pixels.defined()) return MatrixLoops();
    return MatrixLoops(VarOrRVar(stages.stored_pixels > 1 ? stages.pixels.y : stages.pixels.x));
}

// A vector, whose elements are added one by one: of sums in vectors LLVM packs and unpacks pairs.
void load_addend(Conv2dSliced &stages, const LoopLevel &at, const MatrixTiles &t) {
    stages.addend.compute_at(at)
        .store_in(MemoryType::Register)
        .bound_extent(stages.lane, t.pixels_of_lane)
        .vectorize(stages.lane)
        .never_partition_all();
    for (const Var &one : {k, g, x}) stages.addend.bound_extent(one, 1);
}

void sum_products(Conv2dSliced &stages, const MatrixTiles &t, const LoopLevel &block) {
    const MatrixLoops l;
    const RDom &d = stages.r;
    Func &sum = stages.sum;
    sum.compute_at(block)
        .store_in(MemoryType::Register)
        .bound_extent(k, t.tile_k)
        .bound_extent(x, t.tile_x)
        .bound_extent(y, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1);
    const bool in_parts = stages.partial.defined();
    if (t.pixels_of_lane > 1) sum.reorder_storage(x, k, g, y, n);
    if (in_parts) sum.bound_extent(stages.part, 1);
    RVar product("product"), ci("ci"), slices("stages_" + std::to_string(t.stages));
    std::vector<RDom> finishing;  // of the updates after 0, which sums up
    if (!in_parts)
        for (const RDom &once : {stages.added, stages.smooth, stages.sloped, stages.bounded})
            if (once.defined()) finishing.push_back(once);
    for (int update = -1; update <= static_cast<int>(finishing.size()); update++) {
        Stage stage = update < 0 ? Stage(sum) : sum.update(update);
        const Var k8("k8");
        stage.split(k, k8, l.ki, t.of_lane);
        l.divide(stage, t, k8);
        const RDom once = update > 0 ? finishing[update - 1] : RDom();
        const bool in_turns = update > 0 && once.same_as(stages.smooth);
        std::vector<VarOrRVar> loops = l.of_warp(t, 1, in_turns);
        loops.insert(loops.end(), {y, n});
        if (stages.turned_words.defined()) {  // as memory has them
            stage.split(l.xe, l.xh, l.xe, kWords).unroll(l.xh);
            loops.insert(loops.begin(), l.xh);
        }
        if (update == 0) {
            stage.rename(d.w, slices);
            const auto outside = loops.begin() + std::ssize(l.of_thread(t)) +
                                 (stages.turned_words.defined() ? 1 : 0);
            if (t.units) {
                stage.rename(d.x, product);
                loops.insert(outside, product);
            } else {
                stage.split(d.x, d.x, ci, kOuterChannels).unroll(ci);
                loops.insert(outside, {ci, d.x});
            }
            loops.insert(loops.end() - 3, {d.y, d.z, slices});
        }
        if (in_parts) loops.emplace_back(stages.part);
        if (update > 0) loops.emplace_back(once.x);
        stage.reorder(loops);
        if (!in_turns) {
            const bool adds = update > 0 && once.same_as(stages.added);
            adds && !stages.in_rows ? stage.vectorize(l.ki) : stage.unroll(l.ki);
            l.unroll_sums(stage, t);
            if (adds && stages.addend.defined()) load_addend(stages, LoopLevel(sum, l.ki), t);
        }
        l.run(stage, t);
    }
}

// Of parts, of which a block has one.
void bound_parts(Conv2dSliced &stages) {
    stages.partial.compute_root()
        .bound(k, 0, stages.filters)
        .bound(g, 0, stages.groups)
        .bound(x, 0, stages.pixels_of_line)
        .bound(stages.part, 0, stages.parts);
    if (stages.in_rows)
        stages.partial.reorder_storage(x, k, g, stages.part);
    else
        stages.partial.align_storage(k, kPartVector);
}

}  // namespace

namespace {

// `pairs_k`, `pairs_x`: of a warp's output channels, or pixels, a thread has so many times.
MatrixTiles with_knobs(MatrixTiles t, int pairs_k, int pairs_x, const Context &context,
                       const std::vector<int> &vectors) {
    Knobs knobs(context.knobs);
    knobs.take("tile_k", t.tile_k, powers(32, 256));
    knobs.take("tile_x", t.tile_x, powers(16, 256));
    knobs.take("warps_k", t.warps_k, powers(1, 8));
    knobs.take("warps_x", t.warps_x, powers(1, 8));
    knobs.take("stages", t.stages, steps(1, 8));
    if (!vectors.empty()) knobs.take("vector", t.vector, vectors);
    knobs.end();
    const int sums = t.tile_k * t.tile_x / (32 * t.warps());
    knobs.require(t.tile_k % (pairs_k * t.of_warp() * t.warps_k) == 0,
                  "warps_k divides tile_k / " + std::to_string(pairs_k * t.of_warp()));
    knobs.require(t.tile_x % (pairs_x * t.pixels_of_warp() * t.warps_x) == 0,
                  "warps_x divides tile_x / " + std::to_string(pairs_x * t.pixels_of_warp()));
    if (t.halo > 0)
        knobs.require(t.tile_x <= hk::detail::kHaloOutputs && t.stages == kHaloStages,
                      "of halos there are two stages, and tile_x is at most " +
                          std::to_string(hk::detail::kHaloOutputs));
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", sums + sums / 2 + 32, 255);
    const int pixels = t.halo > 0 ? t.halo : t.tile_x;
    knobs.estimate("bytes of shared memory", 64 * t.stages * (t.tile_k + pixels), 96 * 1024);
    return t;
}

}  // namespace

MatrixTiles matrix_tiles(const Context &context, int of_lane, const std::vector<int> &vectors,
                         bool halos) {
    MatrixTiles t(of_lane);
    if (halos) t.halo = hk::detail::kMostHalo, t.stages = kHaloStages;
    return with_knobs(t, 1, 2, context, vectors);
}

MatrixTiles pixel_tiles(const Context &context, int of_lane, const std::vector<int> &vectors) {
    MatrixTiles t(1);
    t.pixels_first = true;
    t.lanes_k = kMatrixLanesX, t.lanes_x = kMatrixLanesK;
    t.pixels_of_lane = of_lane;
    return with_knobs(t, 2, 1, context, vectors);
}

MatrixTiles outer_tiles(const Context &context, bool pixels_first) {
    MatrixTiles t(pixels_first ? kWords : 1);
    t.units = false;
    t.pixels_first = pixels_first;
    t.tile_k = 64, t.tile_x = 128, t.stages = 3;
    t.lanes_k = 8, t.lanes_x = 16, t.warps_k = t.warps_x = 1;
    Knobs knobs(context.knobs);
    knobs.take("tile_k", t.tile_k, powers(32, 256));
    knobs.take("tile_x", t.tile_x, powers(32, 256));
    knobs.take("threads_k", t.lanes_k, powers(8, 32));
    knobs.take("threads_x", t.lanes_x, powers(4, 32));
    knobs.take("stages", t.stages, steps(1, 8));
    knobs.end();
    const int of_k = t.tile_k / t.lanes_k, of_x = t.tile_x / t.lanes_x;
    knobs.require(t.tile_k % t.of_warp() == 0,
                  "threads_k divides tile_k / " + std::to_string(t.of_lane));
    if (pixels_first)
        knobs.require(t.tile_x % (kWords * t.lanes_x) == 0, "threads_x divides tile_x / 4");
    knobs.estimate("threads of a block", t.lanes_k * t.lanes_x, 1024);
    knobs.estimate("registers of a thread", of_k * of_x + kOuterChannels * (of_k + 1) + 28, 255);
    const int padded = pixels_first ? t.tile_x : t.tile_k;  // of windows
    knobs.estimate("bytes of shared memory", t.stages * (64 * (t.tile_k + t.tile_x) + 16 * padded),
                   96 * 1024);
    return t;
}

Stage tile_matrices(Conv2dSliced &stages, const MatrixTiles &t, LoopLevel &at) {
    const bool apart = stages.pixels.defined(), in_parts = stages.partial.defined();
    const MatrixLoops l = loops_of_output(stages);
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var k8("k8"), ko("ko"), yo("yo"), go("go");
    const VarOrRVar xo("xo", apart), block("block", apart);
    Func result = in_parts ? stages.partial : stages.output;
    const bool in_images = !apart && !in_parts && !stages.line;
    if (in_parts)
        bound_parts(stages);
    else if (!apart && stages.line)
        result.bound(y, 0, 1).bound(n, 0, 1);
    // Of the undefined: it is dropped, but else asks for the host.
    if (apart) result.gpu_single_thread();
    Stage out = apart ? result.update() : Stage(result);
    if (apart) promise_distinct(out);
    const bool one_by_one = stages.in_rows || t.vector == 1;
    const bool whole = stages.whole_blocks;
    constexpr auto round_up = TailStrategy::RoundUp;
    out.split(k, k8, l.ki, t.of_lane, one_by_one && !whole ? guard : round_up)
        .split(k8, ko, k8, t.tile_k / t.of_lane, whole ? round_up : guard)
        .split(l.pixel, xo, l.pixel, t.tile_x / stages.stored_pixels, guard);
    if (in_images) out.split(y, yo, y, 1);
    out.split(g, go, g, 1);
    l.divide(out, t, k8, stages.stored_pixels);
    std::vector<VarOrRVar> loops = l.of_warp(t, stages.stored_pixels);
    if (stages.stored_pixels > 1) loops.insert(loops.begin(), stages.pixels.x);
    if (!apart && !in_parts) loops.emplace_back(y);
    if (!apart && !in_parts && stages.line) loops.emplace_back(n);
    loops.insert(loops.end(), {ko, go, xo});
    if (in_images) {
        loops.insert(loops.end(), {yo, n});
        out.reorder(loops).fuse(yo, n, block).fuse(xo, block, block).fuse(go, block, block);
    } else if (in_parts) {
        loops.emplace_back(stages.part);
        out.reorder(loops).fuse(xo, stages.part, block).fuse(go, block, block);
    } else {
        out.reorder(loops).fuse(go, xo, block);
    }
    out.fuse(ko, block, block).gpu_blocks(block);
    one_by_one ? out.unroll(l.ki) : out.vectorize(l.ki);
    if (stages.stored_pixels > 1) out.vectorize(stages.pixels.x);
    l.run(out, t);
    at = LoopLevel(result, block);
    sum_products(stages, t, at);
    stage_factors(stages, t, t.of_lane == kAcross);
    return out;
}

void finish_one_by_one(Func activated, const Conv2dSliced &stages, const MatrixTiles &t) {
    const MatrixLoops l = loops_of_output(stages);
    const int vector = stages.stored_pixels;
    const VarOrRVar at = vector == 1 ? l.kg : t.pixels_of_lane > vector ? l.xe : VarOrRVar(l.ki);
    activated.compute_at(LoopLevel(stages.output, at))
        .store_in(MemoryType::Register)
        .bound_extent(k, t.of_lane)
        .bound_extent(x, vector)
        .unroll(k)
        .unroll(x);
}

void unroll_matrices(Stage out, const Conv2dSliced &stages, const MatrixTiles &t) {
    loops_of_output(stages).unroll_sums(out, t, stages.stored_pixels);
}

namespace {

void run_products(Conv2dSliced &stages, const Conv2dContext &context, const MatrixTiles &t) {
    const bool in_parts = stages.partial.defined();
    LoopLevel at;
    Stage out = tile_matrices(stages, t, at);
    unroll_matrices(out, stages, t);
    if (stages.windows.to.defined() || stages.in_rows)
        copy_channels_last(stages, context.filters_inner);
    else if (stages.transposed.defined())
        copy_filter_across(stages.transposed, context.channels);
    PartBlocks blocks;
    if (in_parts)
        finish_parts(stages, blocks);
    else
        cooperative_copy(stages.start, at, {{k, t.tile_k}, {g, 1}}, t.threads());
}

}  // namespace

void matrices(Conv2dSliced &stages, const Conv2dContext &context) {
    const Type type = stages.filter.type();
    const bool across = context.filters_inner && !stages.transposed.defined();
    const bool in_parts = stages.partial.defined();
    const int along = channels_of_lane(in_parts && !stages.in_rows ? stages.partial.type() : type);
    const auto vectors = stages.row_vector > 0 ? powers(4, 8) : std::vector<int>();
    run_products(stages, context,
                 stages.stored_pixels > 1
                     ? pixel_tiles(context, stages.stored_pixels, vectors)
                     : matrix_tiles(context, across ? kAcross : along, vectors, stages.halo > 0));
}

void outer_products(Conv2dSliced &stages, const Conv2dContext &context) {
    if (stages.filter.type() != Float(32))
        throw CompileError("schedule outer_products is for products of f32");
    MatrixTiles t = outer_tiles(context, stages.in_rows);
    if (stages.row_vector > 0) t.pixels_of_lane = stages.row_vector;
    run_products(stages, context, t);
}

}  // namespace gpu

}  // namespace hk::schedules
