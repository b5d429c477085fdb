#include "schedules/conv2d/conv2d.h"
#include "schedules/conv2d/conv2d_filter.h"
#include "schedules/transpose.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct WinogradBlock {
    int vectors;    // of filters, side by side
    int tiles;      // side by side: with vectors the sums in registers
    int kilobytes;  // of V and M in a task
    int fused;      // 1: all tiles are a task, and a filter is transformed a block at a time
};

// Where V and M of a block of tiles are larger than `block`, tasks are of `many`, which is all
// tiles of most images, in kilobytes. Second caches of AVX2's time have from 256 KB.
// explorer run conv2d CASE --row winograd, of 64x64_512-256_3x3: 365 GFLOP/s by 4096 KB, 269 by
// 16384, on one Zen 4 core of 1 MB, which reads them from the third cache. By bench --list vgg16
// 28x28_512-512_3x3 has 200 to 230 by 8192 KB, 129 where a block is a task, on one Zen 3 core of
// 512 KB.
struct LargeBlocks {
    int block, many;
};

constexpr int kAllTiles = 16384;

LargeBlocks large_blocks(const Target &target) {
    if (large_second_cache(target)) return {512, kAllTiles};
    if (vector_registers(target) < 32) return {128, 8192};
    return {512, 4096};
}

int lanes_of(const Conv2dContext &context) {
    return std::min(kFilterBlock, context.target.natural_vector_size<float>());
}

// Registers: sums, the vectors of U, a broadcast of V. AVX-512: 2 * 8 + 2 + 1 of 32, 10 loads for
// 16 multiplications; 16 registers: 2 * 6 + 2 + 1, 8 loads for 12. Both hide four cycles of two
// multipliers. In nchw outputs of kFilterBlock filters are transposed together: 4 vectors of SSE.
WinogradBlock choose(const Conv2dContext &context) {
    const int registers = vector_registers(context.target);
    const int together = context.nhwc ? 1 : kFilterBlock / lanes_of(context);
    WinogradBlock block = {2, registers < 32 ? 6 : 8,
                           large_second_cache(context.target) ? 1024 : 256, 0};
    if (together > block.vectors) block.vectors = together, block.tiles = 2;
    Knobs knobs(context.knobs);
    knobs.take("vectors", block.vectors, steps(together, std::max(together, 6), together));
    knobs.take("tiles", block.tiles, steps(1, 12));
    knobs.take("kilobytes", block.kilobytes, powers(64, 2048));
    if (!context.filter_packed) knobs.take("fused", block.fused, {0, 1});
    knobs.end();
    knobs.estimate("vector registers", block.vectors * block.tiles + block.vectors + 1, registers);
    return block;
}

const Var kv("kv"), kb("kb"), cb("cb");
const RVar tb("tb"), task("task"), tile("tile"), co("co"), ci("ci");
constexpr TailStrategy guard = TailStrategy::GuardWithIf;

// A line of points in registers, and the 36 of a tile's vector of channels on the stack between
// columns and rows.
void transform_input(Conv2dWinograd &stages, const LoopLevel &at, int tiles, int lanes) {
    const Var &ci = stages.ci, &co = stages.co, &ti = stages.ti, &to = stages.to, &j = stages.j;
    stages.input.compute_at(at)
        .bound_extent(ci, kWinogradChannels)
        .bound_extent(ti, tiles)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(j, kWinogradPoints)
        .reorder_storage(ci, ti, i, j, co, to, g)
        .split(ci, cb, ci, lanes)
        .reorder(ci, j, i, cb, co, ti, to, g)
        .vectorize(ci)
        .unroll(j)
        .parallel(to);
    stages.columns.compute_at(stages.input, cb)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(q, kWinogradPoints)
        .reorder(ci, i, q)
        .vectorize(ci, lanes)
        .unroll(i);
    stages.patch.compute_at(stages.columns, q)
        .bound_extent(stages.p, kWinogradPoints)
        .vectorize(c, lanes)
        .unroll(stages.p);
}

// All tiles of a task and a block of filters, for one point after the other.
void multiply(Conv2dWinograd &stages, const WinogradBlock &block, int lanes) {
    const Var &ti = stages.ti, &to = stages.to, &j = stages.j;
    const int filters = block.vectors * lanes;
    Func product = stages.product, stored = product.in();
    stored.compute_at(stages.output, kb)
        .bound_extent(k, filters)
        .align_bounds(k, filters)
        .bound_extent(ti, block.tiles)
        .bound_extent(i, kWinogradPoints)
        .bound_extent(j, kWinogradPoints)
        .reorder_storage(k, i, j, ti, to, g)
        .reorder(k, ti, to, i, j, g)
        .vectorize(k, lanes)
        .unroll(k)
        .unroll(ti);
    product.compute_at(stored, to).vectorize(k, lanes).unroll(k).unroll(ti);
    product.update()
        .split(stages.channels.x, co, ci, kWinogradChannels, guard)
        .reorder(k, ti, ci, co)
        .vectorize(k, lanes)
        .unroll(k)
        .unroll(ti);
}

void transform_output(Conv2dWinograd &stages, int filters, int lanes) {
    const Var &j = stages.j, &u = stages.u, &v = stages.v;
    for (Func *f : {&stages.tile, &stages.rows})
        f->compute_at(stages.output, kv)
            .bound_extent(k, filters)
            .vectorize(k, lanes)
            .bound_extent(u, kWinogradTile);
    stages.tile.bound_extent(v, kWinogradTile).reorder(k, v, u).unroll(v);
    stages.rows.bound_extent(j, kWinogradPoints).unroll(u);
}

}  // namespace

int winograd_tiles(const Conv2dContext &context) { return choose(context).tiles; }

namespace cpu {

// A task has as many blocks of tiles as keep V and M in the second cache beside the filters that
// pass through it. Where that would be hardly one, filters are larger than that cache many times,
// and tasks of many tiles read them once. Blocks of filters are tasks too, for images of few tiles.
// V is [ci, ti, i, j, co, to]: within a block of tiles the product reads it at constant addresses.
// Operations of the definition on one Zen 4 core of 118 GFLOP/s (explorer run conv2d CASE --row
// staged_7): 56x56_64-64_3x3 315, 28x28_128-128_3x3 289, 14x14_256-256_3x3 272; by tiles of 16
// filters and 7 columns 105, 103, 102. Transforms are a third of that time.
//
// Lost: V with all channels of a point together, where each store of a transform misses the first
// cache (0.9 of the speed at 14x14_256-256_3x3); transforms unrolled whole, 36 values of 32
// registers (0.85 at 56x56_64-64_3x3); a task of --knobs kilobytes:512 (0.93) and 1024 (0.77);
// --knobs vectors:4,tiles:6, as fast where filters fill them (1.05 at 28x28_128-128_3x3) and 0.85
// with 96.
void winograd(Conv2dWinograd &stages, const Conv2dContext &context) {
    const WinogradBlock block = choose(context);
    const int lanes = lanes_of(context), filters = block.vectors * lanes;
    const RDom &d = stages.d;
    const Expr bytes =
        4 * kWinogradPoints * kWinogradPoints * block.tiles * (context.channels + filters);
    const LargeBlocks large = large_blocks(context.target);
    const Expr most = block.fused ? Expr(kAllTiles)
                                  : select(bytes > large.block * 1024, large.many, block.kilobytes);
    const Expr blocks = max(most * 1024 / bytes, 1);

    // In nchw those whose columns are transposed.
    const int stored = context.nhwc ? lanes : kFilterBlock;
    Stage update = stages.output.update();
    update.allow_race_conditions()
        .split(k, kb, k, filters, guard)
        .split(k, kv, k, stored)
        .split(d.z, tb, tile, block.tiles, guard)
        .split(tb, task, tb, blocks, guard)
        .parallel(kb)
        .parallel(task)
        .parallel(g);
    if (context.nhwc) {
        update.reorder(k, d.x, d.y, kv, tile, tb, kb, task, g).vectorize(k);
    } else {
        update.reorder(d.x, k, d.y, kv, tile, tb, kb, task, g).vectorize(d.x).unroll(k);
        const Var block_of_filters = stages.back.front().args()[4];
        transpose_at(LoopLevel(stages.output, d.y), stages.back, {kFilterBlock, kWinogradTile},
                     {block_of_filters});
    }
    stages.start.compute_root();
    if (stages.filter.output.defined()) {
        if (block.fused)
            stages.filter.output.compute_at(stages.output, kb);
        else
            stages.filter.output.compute_root().parallel(stages.filter.ko).parallel(g);
        transform_filter(stages.filter, {context.nhwc, context.filters_inner}, lanes);
    }
    stages.activated.compute_at(stages.output, context.nhwc ? d.x : d.y)
        .bound_extent(k, stored)
        .vectorize(k, lanes);
    by_activation(stages.activated, context);
    transform_output(stages, stored, lanes);
    multiply(stages, block, lanes);
    transform_input(stages, LoopLevel(stages.output, task), block.tiles, lanes);
}

}  // namespace cpu

}  // namespace hk::schedules
