#include <optional>

#include "generators/ceil_div.h"
#include "schedules/conv2d/gpu/channels_last.h"
#include "schedules/conv2d_backward/gpu/weight_matrix_factors.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

WeightMatrixTiles matrix_tiles(const Type &type, bool in_rows,
                               const Conv2dBackwardWeightContext &context) {
    WeightMatrixTiles t;
    if (in_rows) {
        t.of_lane_e = kNeighbours;
        t.vector = pixel_vector(type);
    }
    if (type.bytes() == 4) t.of_lane_k = 2;
    Knobs knobs(context.knobs);
    knobs.take("tile_k", t.tile_k, powers(32, 256));
    knobs.take("tile_e", t.tile_e, powers(32, 256));
    knobs.take("warps_k", t.warps_k, powers(1, 8));
    knobs.take("warps_e", t.warps_e, powers(1, 8));
    knobs.take("stages", t.stages, steps(1, 8));
    if (!context.nhwc && type.bytes() == 2)
        knobs.take("vector", t.vector,
                   in_rows ? std::vector<int>{4, 8} : std::vector<int>{0, 4, 8});
    if (type.bytes() == 2) knobs.take("warps_x", t.warps_x, powers(1, 4));
    knobs.end();
    knobs.require(t.warps_x == 1 || t.warps_k == 1, "warps are of slices or of filters");
    knobs.require(t.warps_x == 1 || t.tile_e % (kNeighbours * kLanesE * t.warps()) == 0,
                  "warps of slices divide tile_e / 16");
    const int sums = t.tile_k * t.tile_e / (32 * t.warps());
    knobs.require(t.tile_k % (2 * kMatrix * t.warps_k) == 0, "warps_k divides tile_k / 16");
    knobs.require(t.tile_e % (kMatrix * t.warps_e) == 0, "warps_e divides tile_e / 8");
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", sums + sums / 2 + 32, 255);
    knobs.estimate("bytes of shared memory", t.bytes(type.bytes()), 96 * 1024);
    return t;
}

// All threads of a block are as one warp is there.
WeightMatrixTiles outer_tiles(const Conv2dBackwardWeightContext &context, bool in_rows) {
    WeightMatrixTiles t;
    t.units = false;
    t.of_lane_k = t.of_lane_e = in_rows ? 1 : kNeighbours;
    t.tile_k = 64, t.stages = 2;
    t.lanes_k = 8, t.lanes_e = 16, t.warps_k = t.warps_e = 1;
    Knobs knobs(context.knobs);
    knobs.take("tile_k", t.tile_k, powers(32, 256));
    knobs.take("tile_e", t.tile_e, powers(32, 256));
    knobs.take("threads_k", t.lanes_k, powers(4, 32));
    knobs.take("threads_e", t.lanes_e, powers(8, 32));
    knobs.take("stages", t.stages, steps(1, 8));
    knobs.end();
    knobs.require(t.tile_k % (kNeighbours * t.lanes_k) == 0, "threads_k divides tile_k / 4");
    knobs.require(t.tile_e % (kNeighbours * t.lanes_e) == 0, "threads_e divides tile_e / 4");
    if (in_rows) knobs.require(kProductPixels % t.lanes_e == 0, "threads_e are of 32 pixels");
    const int of_k = t.tile_k / t.lanes_k, of_e = t.tile_e / t.lanes_e;
    knobs.estimate("threads of a block", t.lanes_k * t.lanes_e, 1024);
    knobs.estimate("registers of a thread", of_k * of_e + 2 * (of_k + of_e) + 32, 255);
    knobs.estimate("bytes of shared memory", t.bytes(4, in_rows ? kRow : kProductPixels),
                   96 * 1024);
    return t;
}

// The loops of a block, of parts and sums alike.
struct MatrixLoops {
    Var ei{"ei"}, et{"et"}, ew{"ew"}, e8{"e8"}, k2{"k2"}, ki{"ki"}, kt{"kt"}, kw{"kw"};
    const bool pairs;  // of neighbouring filters

    explicit MatrixLoops(const WeightMatrixTiles &t) : pairs(t.of_lane_k > 1) {}

    // Of what all lanes have, e8 of which are left.
    void divide(Stage stage, const Var &e, const WeightMatrixTiles &t) const {
        if (pairs) stage.split(k, k, k2, t.of_lane_k);
        stage.split(e, et, ei, t.of_lane_e)
            .split(e8, ew, e8, t.tile_e / (t.of_lanes_e() * t.warps_e))
            .split(k, ki, kt, t.lanes_k)
            .split(ki, kw, ki, t.tile_k / (t.lanes_k * t.of_lane_k * t.warps_k));
    }
    std::vector<VarOrRVar> in_thread() const {
        return pairs ? std::vector<VarOrRVar>{ei, e8, k2, ki} : std::vector<VarOrRVar>{ei, e8, ki};
    }
    void run(Stage stage, const std::optional<Var> &slice) const {
        const Var warp("warp");
        stage.fuse(ew, kw, warp);
        if (slice) stage.fuse(warp, *slice, warp);
        stage.gpu_threads(et, kt, warp).never_partition_all();
        stage.unroll(e8).unroll(ki);
        if (pairs) stage.unroll(k2);
    }
};

void sum_products(Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &t,
                  const LoopLevel &block) {
    const MatrixLoops l(t);
    const RDom &d = stages.r;
    const Var &e = stages.e;
    Func &sum = stages.sum;
    sum.compute_at(block)
        .store_in(MemoryType::Register)
        .bound_extent(e, t.tile_e)
        .bound_extent(k, t.tile_k);
    sum.bound_extent(stages.slice, t.warps_x);
    for (const Var &one : {g, stages.part}) sum.bound_extent(one, 1);
    RVar product("product"), pixel("pixel"), steps("stages_" + std::to_string(t.stages));
    for (const bool updates : {false, true}) {
        Stage stage = updates ? sum.update() : Stage(sum);
        stage.split(e, l.e8, e, t.of_lanes_e());
        l.divide(stage, e, t);
        std::vector<VarOrRVar> loops = l.in_thread();
        if (updates) {
            stage.rename(d.y, steps);
            if (t.units) {
                stage.rename(d.x, product);
                loops.emplace_back(product);
            } else {
                stage.split(d.x, d.x, pixel, kNeighbours).unroll(pixel);
                loops.insert(loops.end(), {pixel, d.x});
            }
        }
        loops.insert(loops.end(), {l.et, l.kt, l.ew, l.kw, stages.slice});
        if (updates) loops.emplace_back(steps);
        loops.insert(loops.end(), {g, stages.part});
        stage.reorder(loops).unroll(l.ei);
        l.run(stage, stages.slice);
    }
}

// What blocks have computed, added up. Of more parts than shares a thread reads four neighbours of
// its share of the parts, and one for all shares writes them; of fewer one thread does it all.
void add_up(Conv2dBackwardWeightProducts &stages) {
    constexpr int vector = 4, threads_c = 8, threads_k = 4, threads_k_few = 16;
    const Var co("co"), ct("ct"), ci("ci"), ko("ko"), kt("kt"), so("so"), ro("ro"), go("go"),
        block("block");
    const bool in_rows = stages.any_channels;
    Func out = stages.output;
    // Rows have any number of channels, which neither begin in vectors nor are next to each other:
    // a thread writes every eighth, so that its neighbours read other banks.
    const auto divide = [&](Stage stage, int rows) {
        if (in_rows)
            stage.split(c, co, c, vector * threads_c, guard).split(c, ci, ct, threads_c);
        else
            stage.split(c, c, ci, vector, TailStrategy::RoundUp).split(c, co, ct, threads_c, guard);
        // Split by one, else Halide takes all elements of what is fused for the bounds of one.
        stage.split(k, ko, kt, rows, guard)
            .split(s, so, s, 1)
            .split(r, ro, r, 1)
            .split(g, go, g, 1);
        stage.reorder({ci, ct, kt, s, r, g, co, so, ro, ko, go})
            .fuse(ko, go, block)
            .fuse(ro, block, block)
            .fuse(so, block, block)
            .fuse(co, block, block)
            .gpu_blocks(block)
            .gpu_threads(ct, kt)
            .never_partition_all();
        in_rows ? stage.unroll(ci) : stage.vectorize(ci);
    };
    divide(Stage(out).specialize(stages.has_few), threads_k_few);
    divide(out, threads_k);
    stages.few.compute_at(out, in_rows ? ci : ct)
        .store_in(MemoryType::Register)
        .bound_extent(c, in_rows ? 1 : vector)
        .vectorize(c);
    stages.few.update().reorder(c, stages.few_of).vectorize(c).never_partition_all();
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

// Where warps have slices of their own: eight filters at once pass through shared memory, whose
// rows begin in other banks, and a warp writes neighbouring elements.
void add_up_slices(Conv2dBackwardWeightProducts &stages, const WeightMatrixTiles &t,
                   const LoopLevel &at) {
    const MatrixLoops l(t);
    const Var warp("warp"), &e = stages.e;
    Func of = stages.of_slice;
    of.compute_at(at)
        .store_in(MemoryType::GPUShared)
        .bound_extent(e, t.tile_e)
        .bound_extent(k, t.lanes_k)
        .bound_extent(stages.slice, t.warps_x)
        .align_storage(e, t.tile_e + t.of_lanes_e());
    for (const Var &one : {g, stages.part}) of.bound_extent(one, 1);
    of.split(e, l.e8, e, t.of_lanes_e())
        .split(e, l.et, l.ei, t.of_lane_e)
        .split(l.e8, l.ew, l.e8, t.tile_e / (t.of_lanes_e() * t.warps_e))
        .reorder({l.ei, l.e8, l.et, k, l.ew, stages.slice, g, stages.part})
        .fuse(l.ew, stages.slice, warp)
        .gpu_threads(l.et, k, warp)
        .unroll(l.ei)
        .unroll(l.e8)
        .never_partition_all();
}

// The parts' tiles: what each block writes.
Var write_parts(Conv2dBackwardWeightProducts &stages, const Conv2dBackwardWeightContext &context,
                const WeightMatrixTiles &t) {
    const MatrixLoops l(t);
    const Var &e = stages.e, eo("eo"), ko("ko"), go("go"), block("block"), each("each"), t2("t2");
    const int of_lane = t.warps_x > 1 ? kNeighbours : t.of_lanes_e();
    Func partial = stages.partial;
    partial.compute_root()
        .bound(e, 0, ceil_div(stages.elements, t.of_lanes_e()) * t.of_lanes_e())
        .bound(k, 0, stages.filters)
        .bound(g, 0, context.groups)
        .bound(stages.part, 0, stages.parts)
        .split(e, l.e8, e, of_lane, TailStrategy::RoundUp)
        .split(l.e8, eo, l.e8, t.tile_e / of_lane, guard)
        .split(k, ko, k, t.tile_k, guard)
        .split(g, go, g, 1);
    std::vector<VarOrRVar> loops;
    if (t.warps_x == 1) {
        l.divide(partial, e, t);
        loops = l.in_thread();
        loops.insert(loops.end(), {l.et, l.kt, l.ew, l.kw});
    } else {
        partial.split(k, l.ki, k, t.lanes_k)
            .split(l.e8, l.e8, l.et, t.lanes_e)
            .fuse(l.e8, k, l.kt)
            .split(l.kt, t2, l.kt, t.lanes_k)
            .split(t2, each, t2, t.warps());
        loops = {e, each, l.et, l.kt, t2, l.ki};
    }
    loops.insert(loops.end(), {g, eo, ko, go, stages.part});
    partial.reorder(loops)
        .fuse(go, stages.part, block)
        .fuse(ko, block, block)
        .fuse(eo, block, block)
        .gpu_blocks(block);
    if (t.warps_x == 1) {
        partial.vectorize(l.ei);
        l.run(partial, {});
        return block;
    }
    partial.gpu_threads(l.et, l.kt, t2).unroll(l.ki).unroll(each).vectorize(e);
    partial.never_partition_all();
    add_up_slices(stages, t, LoopLevel(partial, l.ki));
    return block;
}

void run_products(Conv2dBackwardWeightProducts &stages, const Conv2dBackwardWeightContext &context,
                  const WeightMatrixTiles &t) {
    Func partial = stages.partial;
    const Var block = write_parts(stages, context, t);
    sum_products(stages, t, LoopLevel(partial, block));
    stage_factors(stages, t, LoopLevel(stages.sum, RVar("stages_" + std::to_string(t.stages))));
    add_up(stages);
    for (const CopiedLine &line : {stages.copied_gradient, stages.copied_input})
        if (line.to.defined())
            copy_image({line.tile, line.to, line.channels, line.pixels, context.groups});
    if (stages.windows.to.defined()) copy_windows(stages.windows);
}

}  // namespace

// A block computes 128 filters by 128 elements of them over a part of the pixels, a warp 64 by 64,
// by products of matrices, which compiler/tensor_cores.h makes of the loop `product`. Slices of 32
// pixels of the output's gradient, and of what the elements' taps meet of the input, pass through
// shared memory, `stages` of them on their way or there (compiler/async_copies.h): channels of a
// pixel next to each other, as memory has them, so that matrices are transposed as they are read.
// That is 64 products to 16 loads of four matrices, and 2 * 4 * 32 * (128 + 128) = 65536 bytes; of
// f32 128 products to 128 loads of words, which no instruction transposes.
//
// Rejected by the model of an H100 (explorer show conv2d_backward_weight/matrices --count), which
// no chip has confirmed: warps of 64 by 32, which read 1.5 times as much of shared memory for a
// product, more than it has time for while tensor cores work. A tile for each tap is half empty
// where a tap has 64 channels.
//
// Rows with warps_x have smaller tiles, 64 by 128, whose sums are half as much to write and to add
// up: steps have two slices then, of two warps of 64 by 64 each, and those of the second are added
// to the first's in shared memory, eight filters at once. 3 * 2 * 64 * (64 + 128) bytes and what
// eight rows' gaps take, 76800. Of 28x28 images that is 11.5 us for 14.8, by the model (counts
// --list input=32x28x28x128,weight=512x1x1x128 --family conv2d_backward_weight --type bf16 --layout
// nchw). Blocks read 1.5 times as much of the second cache: filters of several taps, and 1x1 of
// 14x14 images keep the larger tiles, whom it bounds already (counts --list resnet50 --family
// conv2d_backward_weight --type bf16 --layout nchw --batch 32).
//
// Pixels of all images are one line, of which a part is as long as the caller says, who knows how
// many blocks that gives. Blocks of a part, which read the same pixels, follow one another.
void backward_weight_matrices(Conv2dBackwardWeightProducts &stages,
                              const Conv2dBackwardWeightContext &context) {
    run_products(stages, context, matrix_tiles(stages.gradient.type(), stages.in_rows, context));
}

// The same of f32 whose products must be exact, by multiply-adds: a thread adds up the products of
// 8 filters and 8 elements, 64 to four loads of four neighbours, a pixel after the other.
// 4 * 2 * 32 * (64 + 128) = 49152 bytes. Of images in rows that are read as they are, words pass to
// shared memory one by one, pixels next to each other; 4 * 2 * 36 * (64 + 128) = 55296 bytes.
void backward_weight_outer_products(Conv2dBackwardWeightProducts &stages,
                                    const Conv2dBackwardWeightContext &context) {
    if (stages.gradient.type() != Float(32))
        throw CompileError("schedule outer_products is for products of f32");
    run_products(stages, context, outer_tiles(context, stages.in_rows));
}

}  // namespace gpu

static gpu::WeightMatrixTiles tiles_of(const Conv2dBackwardWeightContext &context, bool both) {
    return gpu::matrix_tiles(context.in_f32 ? Float(32) : BFloat(16), both, context);
}

int backward_weight_row_vector(const Conv2dBackwardWeightContext &context, bool both) {
    if (context.schedule == "outer_products") return both ? 1 : 0;
    return tiles_of(context, both).vector;
}

int backward_weight_slices_of_step(const Conv2dBackwardWeightContext &context, bool both) {
    return context.schedule == "outer_products" ? 1 : tiles_of(context, both).warps_x;
}

}  // namespace hk::schedules
