#include "generators/ceil_div.h"
#include "schedules/group_norm/gpu/lane_sums.h"
#include "schedules/group_norm/group_norm.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// The first kernel of group_norm_parts(): of nhwc threads are 32 channels at 4 parts, of nchw 128
// parts of a channel. Of dimensions that are fused without a split by one, Halide 21 makes one
// index of memory, though slices lie between them.
void in_parts(GroupNorm &stages, const GroupNormContext &context, int length) {
    const Var &bx = stages.bx, &by = stages.by, &bz = stages.bz;
    const Var co("co"), bo("bo"), yo("yo"), no("no"), block("block"), vector("vector");
    Func parts = stages.of_block;
    parts.compute_root()
        .bound(c, 0, context.channels)
        .bound(bx, 0, ceil_div(context.width, length))
        .bound(by, 0, context.height)
        .bound(bz, 0, 1)
        .bound(g, 0, context.slices)
        .bound(n, 0, context.batch)
        .split(c, co, c, context.nhwc ? 32 : 1, guard)
        .split(bx, bo, bx, context.nhwc ? 4 : 128, guard)
        .split(by, yo, by, 1)
        .split(n, no, n, 1)
        .reorder(bz, context.nhwc ? c : bx, context.nhwc ? bx : c, by, n, co, bo, yo, no, g)
        .fuse(yo, no, block)
        .fuse(bo, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block, g)
        .never_partition_all();
    if (context.nhwc)
        parts.gpu_threads(c, bx);
    else
        parts.gpu_threads(bx).reorder_storage(bx, by, bz, c, g, n);
    const auto in_thread = [&](Func f) {
        f.compute_at(parts, context.nhwc ? c : bx).store_in(MemoryType::Register);
        for (const Var &one : {c, bx, by, bz, g, n}) f.bound_extent(one, 1);
    };
    for (Func one : {stages.terms, stages.middle}) in_thread(one);
    stages.terms.bound_extent(pixel, length);
    if (!context.nhwc) stages.terms.split(pixel, pixel, vector, kVectorOfRow).vectorize(vector);
    stages.terms.unroll(pixel);
    for (LaneSums *sums : {&stages.first, &stages.about}) {
        in_thread(sums->block_sum);
        sums->block_sum.bound_extent(sums->lane, 1)
            .update()
            .unroll(sums->in_block.x)
            .never_partition_all();
    }
}

// Threads of the third: of nhwc `together` pixels of a channel each, of nchw four vectors.
void divide_output(GroupNorm &stages, const GroupNormContext &context, int together,
                   const std::vector<VarOrRVar> &blocks) {
    constexpr int kThreads = 256, kRounds = 4;
    const Var &co = blocks[0].var, &xo = blocks[1].var;
    const Var xt("xt"), round("round");
    Func out = stages.output;
    std::vector<VarOrRVar> loops = {x, c, xt, y, n};
    if (context.nhwc) {
        out.split(c, co, c, 32, guard).split(x, xt, x, together, guard).split(xt, xo, xt, 8, guard);
    } else {
        out.split(c, co, c, 1)
            .split(x, xt, x, kVectorOfRow, TailStrategy::RoundUp)
            .split(xt, xo, xt, kThreads * kRounds, guard)
            .split(xt, round, xt, kThreads, guard);
        loops = {x, round, xt, c, y, n};
    }
    loops.insert(loops.end(), blocks.begin(), blocks.end());
    out.reorder(loops);
    if (context.nhwc) {
        out.gpu_threads(c, xt).unroll(x);
        load_together(stages, out, c, together);
        return;
    }
    out.gpu_threads(xt).vectorize(x);
    stages.of_channel.compute_at(out, xt).store_in(MemoryType::Register);
    for (const Var &of : {c, g, n}) stages.of_channel.bound_extent(of, 1);
}

// The third.
void output_of_parts(GroupNorm &stages, const GroupNormContext &context, int together) {
    // compute_with() asks for one name, which ends with that of the innermost loop that was fused.
    const Var co("co"), xo("xo"), yo("yo"), no("no"), go("go"), block("block");
    Func out = stages.output;
    out.compute_root().split(y, yo, y, 1).split(n, no, n, 1);
    divide_output(stages, context, together, {co, xo, yo, no, g});
    out.fuse(yo, no, block)
        .fuse(xo, block, block)
        .fuse(co, block, block)
        .fuse(n, block, block)
        .gpu_blocks(block, g)
        .never_partition_all();
    for (Func one : {stages.mean, stages.rstd}) {
        one.compute_root()
            .split(group, go, group, 32, guard)
            .split(n, no, n, 1)
            .reorder(go, group, n, no, g)
            .fuse(n, no, block)
            .gpu_blocks(block, g)
            .gpu_threads(group)
            .never_partition_all();
        one.compute_with(out, block);
    }
}

}  // namespace

// Three kernels: threads have 64 elements of a channel each, in registers, and write their sums
// into memory; blocks of them merge those of a group; threads have the output of a channel at 8
// pixels, or four vectors. The input is read twice. As many threads as the image has elements for,
// whatever the groups are.
void group_norm_parts(GroupNorm &stages, const GroupNormContext &context) {
    const GroupNormSizes sizes = group_norm_sizes(context);
    in_parts(stages, context, sizes.block);
    factors_of_groups(stages.factors, {&stages.channel_offsets, &stages.channel_squares},
                      stages.statistics, context);
    output_of_parts(stages, context, sizes.together);
}

}  // namespace hk::schedules::gpu
