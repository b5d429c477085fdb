#include "schedules/conv2d/gpu/staged.h"
#include "schedules/conv2d_backward/conv2d_backward_data.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// The last rung, and what depthwise takes: nothing is staged. A thread computes one element, whose
// phase is its own: several pixels of a thread would have as many phases, the number of which is an
// argument. Its neighbours are neighbours in memory: channels, or where a group has one groups, or
// columns. Taps of a filter of known size are unrolled: their loads are on their way at once.
void backward_data_thread_per_element(Conv2dBackwardData &stages,
                                      const Conv2dBackwardDataContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const bool groups = context.nhwc && context.channels_per_group == 1;
    int tile_c = context.nhwc && !groups ? 16 : 1, tile_g = groups ? 32 : 1,
        tile_x = context.nhwc ? 8 : 32, tile_y = context.nhwc ? 1 : 4;
    if (groups) tile_x = 4;
    Knobs knobs(context.knobs);
    if (groups)
        knobs.take("tile_g", tile_g, powers(1, 256));
    else
        knobs.take("tile_c", tile_c, powers(1, 64));
    knobs.take("tile_x", tile_x, powers(1, 256));
    knobs.take("tile_y", tile_y, powers(1, 64));
    knobs.end();
    knobs.estimate("threads of a block", tile_c * tile_g * tile_x * tile_y, 1024);
    const Var co("co"), ct("ct"), xo("xo"), xt("xt"), yo("yo"), yt("yt"), go("go"), gt("gt"),
        block("block");
    const std::vector<Var> threads = innermost_first(context.nhwc, groups ? gt : ct, xt, yt);
    // What is fused is split, by one too, else Halide takes all groups for the bounds of one.
    stages.output.split(c, co, ct, tile_c, guard)
        .split(g, go, gt, tile_g, guard)
        .split(x, xo, xt, tile_x, guard)
        .split(y, yo, yt, tile_y, guard)
        .reorder(threads[0], threads[1], threads[2], groups ? ct : gt, co, xo, yo, go, n)
        .fuse(go, n, block)
        .fuse(yo, block, block)
        .fuse(xo, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(threads[0], threads[1], threads[2])
        .never_partition_all();
    const auto hold = [&](Func sum, const LoopLevel &at, const RDom &d) {
        sum.compute_at(at).store_in(MemoryType::Register);
        for (const Var &one : {c, g, x, y, stages.px, stages.py, n}) sum.bound_extent(one, 1);
        sum.update().reorder(d.x, d.y, d.z).never_partition_all();
    };
    const LoopLevel thread(stages.output, threads[0]);
    const BlockedSum &blocked = stages.blocked;
    if (!blocked.running.defined()) {
        hold(stages.sum, thread, stages.r);
        return;
    }
    hold(blocked.running, thread, blocked.blocks);
    hold(blocked.block_sum, LoopLevel(blocked.running, blocked.blocks.x), blocked.in_block);
}

// Depthwise filters of known size, stride and padding. A thread computes all phases of a few
// neighbouring pixels, so that each of its sums has taps that are known: 4 x 4 pixels of a 3x3
// filter of stride 2 are 36 multiply-adds of 3 x 3 elements of the output's gradient, which are
// compared with its bounds once each. The filters of a block's groups, which lie a whole filter
// apart from group to group in nhwc, go through shared memory.
void backward_data_tile_of_phases(Conv2dBackwardData &stages,
                                  const Conv2dBackwardDataContext &context) {
    GroupTiles t = context.nhwc ? GroupTiles{32, 8, 8, 4, 4} : GroupTiles{2, 64, 16, 2, 4};
    t.take(Knobs(context.knobs));
    Knobs::require(t.each_x % context.stride_x == 0 && t.each_y % context.stride_y == 0,
                   "a thread has whole phases");
    tile_groups(stages.output, context.nhwc, t);
    const std::vector<VarOrRVar> loops = {stages.r.x, stages.px,  stages.py, x,
                                          y,          stages.r.y, stages.r.z};
    stages.sum.compute_at(stages.output, thread_of_groups(context.nhwc))
        .store_in(MemoryType::Register)
        .bound_extent(c, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1);
    Stage update = stages.sum.update();
    update.reorder(loops).unroll(stages.r.y).unroll(stages.r.z).never_partition_all();
    const auto unroll = [&](const Var &loop, int extent) {
        stages.sum.bound_extent(loop, extent).unroll(loop);
        update.unroll(loop);
    };
    unroll(stages.px, context.stride_x);
    unroll(stages.py, context.stride_y);
    unroll(x, t.each_x / context.stride_x);
    unroll(y, t.each_y / context.stride_y);
    cooperative_copy(stages.filter, LoopLevel(stages.output, Var("block")),
                     {{c, 1}, {s, context.kernel_w}, {r, context.kernel_h}, {k, 1}, {g, t.tile_g}},
                     t.threads(context.nhwc));
}

// With strides of one it is conv2d's schedule, word for word: a block computes 64 input channels at
// 64 pixels while slices of eight filters pass through shared memory.
// schedules/conv2d/gpu/staged.cpp has the arithmetic. For filters of one row or column, over one
// window: 4 * 8 * (3 * 68 + 10 * 8) = 9088 bytes; of a slice 384 FMAs a thread to 8.5 loads from
// global memory between two barriers, where a tap at a time has 128 to 4.
//
// Otherwise a block has 8 x 8 pixels of one phase, so that it has the taps of all of them, and goes
// through all slices of one tap after the other: a phase without taps, as three of four in a 1x1 of
// stride 2, stages and multiplies nothing, and writes zeros. 4 * 8 * (68 + 64) = 4224 bytes.
//
// Lost: rows of any filter for strides of 1 and of 2 that the compiler knows: 72 and 80 registers,
// the same bytes; the division is outside of all loops. The output as a pure function of its
// pixels: Halide then takes the phases of a tile for all phases.
void backward_data_staged(Conv2dSliced &stages, const Conv2dContext &context) {
    if (!stages.output.has_update_definition()) {
        staged(stages, context);
        return;
    }
    const RDom &p = stages.pixels;
    const Block block(staged_tiles(context), context.nhwc, image_axes(), {k, p.x, p.y, {p.z, n}});
    stages.output
        .gpu_single_thread();  // of the undefined: it is dropped, but else asks for the host
    Stage out = stages.output.update();
    promise_distinct(out);
    block.tile(out);
    sum_slices(stages, context, block, true);
}

}  // namespace hk::schedules::gpu
