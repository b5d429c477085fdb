#include "generators/ceil_div.h"
#include "schedules/conv2d/gpu/channels_last.h"
#include "schedules/conv2d_backward/conv2d_backward_weight.h"
#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// A warp's threads are 4 by 8, as the fragments of a product have them: of each 8 neighbouring
// elements of a filter two, and of 8 filters one; of 16 two where operands have 32 bits.
constexpr int kMatrix = kProductElements, kLanesE = 4, kLanesK = 8;

// Of multiply-adds a thread has four neighbours of both, which it loads at once, and pixels are
// unrolled by as many. Where pixels are next to each other it loads four of those instead.
constexpr int kNeighbours = 4;

// Words from a row of a slice's pixels in shared memory to the next: eight begin in different
// banks.
constexpr int kRow = kProductPixels + kNeighbours;

struct MatrixTiles {
    int tile_k = 128, tile_e = 128;
    int warps_k = 2, warps_e = 2, stages = 4;
    int lanes_k = kLanesK, lanes_e = kLanesE;          // of a warp
    int of_lane_k = 1, of_lane_e = kMatrix / kLanesE;  // neighbours of a thread
    int vector = 0;                                    // pixels of a copy, of images in rows
    bool units = true;                                 // products are the tensor cores'

    int of_lanes_e() const { return lanes_e * of_lane_e; }
    int warps() const { return warps_k * warps_e; }
    std::vector<int> threads() const { return {lanes_e, lanes_k, warps()}; }
    int bytes(int of_operand, int pixels = kProductPixels) const {
        return of_operand * stages * pixels * (tile_k + tile_e);
    }
};

MatrixTiles matrix_tiles(const Type &type, bool in_rows,
                         const Conv2dBackwardWeightContext &context) {
    MatrixTiles t;
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
    knobs.end();
    const int sums = t.tile_k * t.tile_e / (32 * t.warps());
    knobs.require(t.tile_k % (2 * kMatrix * t.warps_k) == 0, "warps_k divides tile_k / 16");
    knobs.require(t.tile_e % (kMatrix * t.warps_e) == 0, "warps_e divides tile_e / 8");
    knobs.estimate("threads of a block", 32 * t.warps(), 1024);
    knobs.estimate("registers of a thread", sums + sums / 2 + 32, 255);
    knobs.estimate("bytes of shared memory", t.bytes(type.bytes()), 96 * 1024);
    return t;
}

// All threads of a block are as one warp is there.
MatrixTiles outer_tiles(const Conv2dBackwardWeightContext &context, bool in_rows) {
    MatrixTiles t;
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

    explicit MatrixLoops(const MatrixTiles &t) : pairs(t.of_lane_k > 1) {}

    // Of what all lanes have, e8 of which are left.
    void divide(Stage stage, const Var &e, const MatrixTiles &t) const {
        if (pairs) stage.split(k, k, k2, t.of_lane_k);
        stage.split(e, et, ei, t.of_lane_e)
            .split(e8, ew, e8, t.tile_e / (t.of_lanes_e() * t.warps_e))
            .split(k, ki, kt, t.lanes_k)
            .split(ki, kw, ki, t.tile_k / (t.lanes_k * t.of_lane_k * t.warps_k));
    }
    std::vector<VarOrRVar> in_thread() const {
        return pairs ? std::vector<VarOrRVar>{ei, e8, k2, ki} : std::vector<VarOrRVar>{ei, e8, ki};
    }
    void run(Stage stage) const {
        const Var warp("warp");
        stage.fuse(ew, kw, warp).gpu_threads(et, kt, warp).never_partition_all();
        stage.unroll(e8).unroll(ki);
        if (pairs) stage.unroll(k2);
    }
};

void sum_products(Conv2dBackwardWeightProducts &stages, const MatrixTiles &t,
                  const LoopLevel &block) {
    const MatrixLoops l(t);
    const RDom &d = stages.r;
    const Var &e = stages.e;
    Func &sum = stages.sum;
    sum.compute_at(block)
        .store_in(MemoryType::Register)
        .bound_extent(e, t.tile_e)
        .bound_extent(k, t.tile_k);
    for (const Var &one : {g, stages.part}) sum.bound_extent(one, 1);
    RVar product("product"), pixel("pixel"), slices("stages_" + std::to_string(t.stages));
    for (const bool updates : {false, true}) {
        Stage stage = updates ? sum.update() : Stage(sum);
        stage.split(e, l.e8, e, t.of_lanes_e());
        l.divide(stage, e, t);
        std::vector<VarOrRVar> loops = l.in_thread();
        if (updates) {
            stage.rename(d.y, slices);
            if (t.units) {
                stage.rename(d.x, product);
                loops.emplace_back(product);
            } else {
                stage.split(d.x, d.x, pixel, kNeighbours).unroll(pixel);
                loops.insert(loops.end(), {pixel, d.x});
            }
        }
        loops.insert(loops.end(), {l.et, l.kt, l.ew, l.kw});
        if (updates) loops.emplace_back(slices);
        loops.insert(loops.end(), {g, stages.part});
        stage.reorder(loops).unroll(l.ei);
        l.run(stage);
    }
}

// A thread copies several vectors of one pixel, whose place it finds once. Eight threads are of two
// pixels, which are in different banks (compiler/swizzle.h): neighbours where a pixel has 64 bytes,
// else four apart, or two where elements have 32 bits.
void copy_taps(Func tap, const Var &e, const MatrixTiles &t, const LoopLevel &step) {
    Var lane("lane"), e8("e8"), xo("xo"), xi("xi"), t0("t0"), t1("t1"), t2("t2");
    tap.reorder_storage({e, x, g});
    tap.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .bound_extent(e, t.tile_e)
        .bound_extent(x, kProductPixels)
        .bound_extent(g, 1)
        .split(e, e8, lane, pixel_vector(tap.type()))
        .split(e8, e8, t0, t.lanes_e)
        .split(x, xo, xi, t.lanes_k)
        .split(xo, xo, t2, t.warps(), guard);
    const Var far("far");
    if (!t.units) {
        tap.rename(xi, t1);
    } else if (t.of_lane_k > 1) {
        const Var near("near");
        tap.split(xi, xi, near, 2).split(xi, xi, far, 2).fuse(far, near, t1).fuse(t1, xi, t1);
    } else if (t.tile_e > kProductPixels) {
        tap.split(xi, far, xi, kLanesK / 2).fuse(far, xi, t1);
    } else {
        tap.rename(xi, t1);
    }
    tap.reorder(lane, e8, xo, t0, t1, t2, g)
        .vectorize(lane)
        .gpu_threads(t0, t1, t2)
        .never_partition_all();
}

void copy_channels(Func gradient, const MatrixTiles &t, const LoopLevel &step) {
    gradient.reorder_storage(k, x, g);
    cooperative_copy(gradient, step, {{k, t.tile_k}, {g, 1}, {x, kProductPixels}}, t.threads(),
                     pixel_vector(gradient.type()), true);
}

// Pixels next to each other.
void copy_vectors_of_rows(Func rows, const Var &e, int tile, int vector, const MatrixTiles &t,
                          const LoopLevel &step) {
    rows.reorder_storage(x, e, g);
    cooperative_copy(rows, step, {{x, kProductPixels}, {e, tile}, {g, 1}}, t.threads(), vector,
                     true);
}

// Of images in rows: a thread copies words of one pixel, whose place it finds once, of four
// neighbouring elements and then of others; a warp's are next to each other.
void copy_rows(Func rows, const Var &e, int tile, const MatrixTiles &t, const LoopLevel &step) {
    Var near("near"), far("far"), xi("xi"), t1("t1");
    const int halves = kProductPixels / t.lanes_e;
    rows.compute_at(step)
        .store_in(MemoryType::GPUShared)
        .reorder_storage(x, e, g)
        .align_storage(x, kRow)
        .bound_extent(e, tile)
        .bound_extent(x, kProductPixels)
        .bound_extent(g, 1)
        .split(x, x, xi, t.lanes_e)
        .split(e, e, near, kNeighbours)
        .split(e, e, far, t.lanes_k / halves)
        .fuse(x, far, t1)
        .reorder(near, e, xi, t1, g)
        .gpu_threads(xi, t1)
        .never_partition_all();
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

void run_products(Conv2dBackwardWeightProducts &stages, const Conv2dBackwardWeightContext &context,
                  const MatrixTiles &t) {
    const MatrixLoops l(t);
    const Var &e = stages.e, eo("eo"), ko("ko"), go("go"), block("block");
    Func partial = stages.partial;
    partial.compute_root()
        .bound(e, 0, ceil_div(stages.elements, t.of_lanes_e()) * t.of_lanes_e())
        .bound(k, 0, stages.filters)
        .bound(g, 0, context.groups)
        .bound(stages.part, 0, stages.parts)
        .split(e, l.e8, e, t.of_lanes_e(), TailStrategy::RoundUp)
        .split(l.e8, eo, l.e8, t.tile_e / t.of_lanes_e(), guard)
        .split(k, ko, k, t.tile_k, guard)
        .split(g, go, g, 1);
    l.divide(partial, e, t);
    std::vector<VarOrRVar> loops = l.in_thread();
    loops.insert(loops.end(), {l.et, l.kt, l.ew, l.kw, g, eo, ko, go, stages.part});
    partial.reorder(loops)
        .fuse(go, stages.part, block)
        .fuse(ko, block, block)
        .fuse(eo, block, block)
        .gpu_blocks(block)
        .vectorize(l.ei);
    l.run(partial);

    sum_products(stages, t, LoopLevel(partial, block));
    const LoopLevel step(stages.sum, RVar("stages_" + std::to_string(t.stages)));
    if (stages.in_rows && !t.units) {
        copy_rows(stages.gradient, k, t.tile_k, t, step);
        copy_rows(stages.tap, stages.e, t.tile_e, t, step);
    } else {
        if (stages.row_vector > 0)
            copy_vectors_of_rows(stages.gradient, k, t.tile_k, stages.row_vector, t, step);
        else
            copy_channels(stages.gradient, t, step);
        if (stages.in_rows)
            copy_vectors_of_rows(stages.tap, stages.e, t.tile_e, stages.row_vector, t, step);
        else
            copy_taps(stages.tap, stages.e, t, step);
    }
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

int backward_weight_row_vector(const Conv2dBackwardWeightContext &context, bool both) {
    if (context.schedule == "outer_products") return both ? 1 : 0;
    return gpu::matrix_tiles(context.in_f32 ? Float(32) : BFloat(16), both, context).vector;
}

}  // namespace hk::schedules
