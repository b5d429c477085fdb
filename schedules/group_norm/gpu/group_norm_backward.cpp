#include "schedules/group_norm/group_norm.h"

#include "generators/ceil_div.h"
#include "schedules/group_norm/gpu/lane_sums.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr int kWarp = 32, kThreads = 256;
const Var block("block"), part("part"), warp("warp"), thread("thread"), both("both");

// Lanes as threads of a block. Of nchw a warp has 4 pixels of 8 channels: with 32 pixels of one
// channel more sectors were whole, but more threads idle, in images of 7x7 pixels.
void as_threads(Func f, const Var &lane) {
    f.split(lane, warp, thread, kWarp, guard).reorder(thread, warp).gpu_threads(thread, warp);
}

// The sums of a block's groups, of so many images.
Func in_shared(Func f, const LoopLevel &at, int images) {
    f.compute_at(at).store_in(MemoryType::GPUShared);
    return f.bound_extent(n, images).bound_extent(g, 1);
}

// Buffers have these extents: what both are made from has the bounds of one.
Func all_channels(Func f, const GroupNormContext &context) {
    return f.bound(c, 0, context.channels).bound(g, 0, context.slices);
}

// The sums of a part's channels, in memory; both from one set of sums.
void sums_of_parts(GroupNormBackward &stages, const GroupNormContext &context) {
    const GroupNormSizes sizes = group_norm_sizes(context);
    const Var co("co");
    LaneSums &sums = stages.of_pixels;
    for (Func out : {stages.bias_sums, stages.weight_sums}) {
        all_channels(out, context)
            .compute_root()
            .split(n, part, n, 1)
            .split(c, co, c, sizes.near, guard)
            .split(c, warp, thread, std::min(sizes.near, kWarp), guard)
            .reorder(thread, warp, co, n, g, part)
            .gpu_threads(thread, warp);
        blocks_of_slices(out, part, ceil_div(context.batch, context.images));
    }
    stages.weight_sums.compute_with(stages.bias_sums, thread);
    stages.of_part.compute_at(stages.bias_sums, thread).store_in(MemoryType::Register);
    for (const Var &one : {c, g, n}) stages.of_part.bound_extent(one, 1);
    stages.of_part.update().never_partition_all();
    sums.folded.bound(sums.lane, 0, sizes.width);
    for (Func one : {sums.of_lane, sums.folded}) {
        one.compute_at(stages.bias_sums, co)
            .store_in(MemoryType::GPUShared)
            .bound_extent(one.args()[1], 1)
            .bound_extent(tile, 1)
            .bound_extent(g, 1)
            .bound_extent(n, 1)
            .never_partition_all();
        as_threads(one, sums.lane);
    }
    in_registers(sums, sums.of_lane, thread);
}

// Those of weight and bias: a block 32 channels, with some lanes each.
void gradient_of_vector(LaneSums &sums, Func out, const GroupNormContext &context) {
    const Var co("co"), cb("cb"), go("go");
    all_channels(out, context)
        .compute_root()
        .split(c, co, c, kWarp, guard)
        .split(co, cb, co, 1)
        .split(g, go, g, 1)
        .reorder(c, co, g, cb, go)
        .fuse(cb, go, block)
        .gpu_blocks(block)
        .gpu_threads(c)
        .never_partition_all();
    sums.of_lane.compute_at(out, co)
        .store_in(MemoryType::GPUShared)
        .bound_extent(c, kWarp)
        .bound_extent(g, 1)
        .reorder(c, sums.lane)
        .reorder_storage(c, sums.lane)
        .gpu_threads(c, sums.lane)
        .never_partition_all();
    in_registers(sums, sums.of_lane, c);
}

void gradients_of_vectors(GroupNormBackward &stages, const GroupNormContext &context) {
    gradient_of_vector(stages.bias_lanes, stages.bias_gradient, context);
    gradient_of_vector(stages.weight_lanes, stages.weight_gradient, context);
}

}  // namespace

namespace {

// The sums of an image's channels: a block's, in shared memory, and from there in memory.
void sums_of_channels(GroupNormBackward &stages, const GroupNormContext &context) {
    const GroupNormSizes sizes = group_norm_sizes(context);
    const Var co("co"), round("round");
    for (Func out : {stages.bias_sums, stages.weight_sums}) {
        all_channels(out, context)
            .compute_root()
            .split(n, part, n, 1)
            .split(c, round, c, kThreads, guard)
            .split(c, warp, thread, kWarp)
            .reorder(thread, warp, round, n, g, part)
            .gpu_threads(thread, warp);
        blocks_of_slices(out, part, context.batch);
    }
    stages.weight_sums.compute_with(stages.bias_sums, thread);
    const LoopLevel block(stages.bias_sums, g);
    in_shared(stages.of_part, block, 1)
        .bound_storage(c, kMostChannels)
        .split(c, co, c, sizes.near * sizes.together, guard)
        .split(c, warp, thread, std::min(sizes.near * sizes.together, kWarp))
        .reorder(thread, warp, co, n, g)
        .gpu_threads(thread, warp)
        .never_partition_all();
    stages.of_channel.compute_at(stages.of_part, thread).store_in(MemoryType::Register);
    for (const Var &of : {c, g, n}) stages.of_channel.bound_extent(of, 1);
    stages.of_channel.update().never_partition_all();
    LaneSums &sums = stages.of_pixels;
    const Var one = sums.of_lane.args()[1];
    sums.folded.bound(sums.lane, 0, sizes.width);
    for (Func f : {sums.of_lane, sums.folded}) {
        f.compute_at(stages.of_part, co).store_in(MemoryType::GPUShared).never_partition_all();
        for (const Var &of : {tile, g, n}) f.bound_extent(of, 1);
        f.bound(one, 0, sizes.together);
    }
    as_threads(sums.of_lane, sums.lane);
    sums.of_lane.reorder(one, thread, warp).unroll(one);
    // Lanes that are folded together are in other banks for each of a vector.
    if (sizes.together > 1) sums.of_lane.align_storage(sums.lane, sizes.lanes + sizes.width);
    sums.folded.fuse(sums.lane, one, both);
    as_threads(sums.folded, both);
    in_registers(sums, sums.of_lane, thread);
    for (Func f : {sums.running, sums.block_sum}) {
        f.bound_extent(one, sizes.together);
        if (sizes.together == 1) continue;
        f.vectorize(one)
            .update()
            .reorder(one, f.name() == sums.running.name() ? sums.blocks.x : sums.in_block.x)
            .vectorize(one);
    }
}

}  // namespace

// Three kernels. A block has a group: it adds up its channels, which are the group's sums, then
// makes the gradient of the input, and reads the group from memory once and again from caches.
// Blocks for 32 channels each add up those sums of all images. Of nhwc by vectors of the knob's
// size: threads have as many sums of each kind. Lost: a group's sums over its elements, which are
// then read once more: 47.0 us of an H100's model in place of 26.1 (counts --list networks
// --family group_norm_backward --type f16 --layout nchw, n32_28x28_512_g32).
void group_norm_backward_groups(GroupNormBackward &stages, const GroupNormContext &context) {
    sums_of_channels(stages, context);
    const Var vector("vector"), co("co"), xo("xo"), ci("ci"), xi("xi"), round("round");
    Func out = stages.input_gradient;
    out.compute_root()
        .split(n, part, n, 1)
        .split(c, vector, c, group_norm_sizes(context).together, TailStrategy::RoundUp)
        .split(vector, co, ci, stages.across, guard)
        .split(x, xo, xi, stages.down, guard);
    if (context.nhwc) {
        out.reorder(c, ci, xi, xo, co, y, n, g, part).fuse(ci, xi, both);
    } else {
        out.reorder(c, xi, ci, xo, co, y, n, g, part).fuse(xi, ci, both);
    }
    out.split(both, round, both, kThreads, guard)
        .split(both, warp, thread, kWarp)
        .reorder(c, xo, co, y, round, thread, warp, n, g, part)
        .vectorize(c)
        .gpu_threads(thread, warp);
    blocks_of_slices(out, part, context.batch);
    out.compute_with(stages.bias_sums, g);
    stages.factors.compute_at(out, co).store_in(MemoryType::Register).unroll(c);
    stages.factors.bound_extent(c, group_norm_sizes(context).together);
    for (const Var &of : {g, n}) stages.factors.bound_extent(of, 1);
    LaneSums &sums = stages.of_channels;
    for (Func f : {sums.of_lane, sums.folded}) {
        in_shared(f, LoopLevel(out, n), 1).never_partition_all();
        as_threads(f, sums.lane);
    }
    in_registers(sums, sums.of_lane, thread);
    in_shared(sums.total, LoopLevel(out, n), 1).bound_extent(group, 1);
    gradients_of_vectors(stages, context);
}

// The same for groups of few pixels: a warp a group, 8 of them at a time.
void group_norm_backward_rows(GroupNormBackward &stages, const GroupNormContext &context) {
    constexpr int kGroups = kThreads / kWarp;
    sums_of_parts(stages, context);
    const Var co("co"), eight("eight");
    Func out = stages.input_gradient;
    out.compute_root()
        .split(n, part, n, context.images, guard)
        .split(n, eight, n, kGroups, guard)
        .split(c, co, thread, kWarp, guard)
        .reorder(co, x, y, thread, n, eight, g, part)
        .gpu_threads(thread, n);
    blocks_of_slices(out, part, ceil_div(context.batch, context.images));
    out.compute_with(stages.bias_sums, g);
    LaneSums &sums = stages.of_channels;
    for (Func one : {sums.of_lane, sums.folded}) {
        in_shared(one, LoopLevel(out, eight), kGroups)
            .reorder(sums.lane, n)
            .gpu_threads(sums.lane, n)
            .never_partition_all();
    }
    in_registers(sums, sums.of_lane, sums.lane);
    in_shared(sums.total, LoopLevel(out, eight), kGroups).bound_extent(group, 1).gpu_threads(n);
    gradients_of_vectors(stages, context);
}

namespace {

// The sums of parts of 32 channels, by 8 threads each. Loops of blocks are not fused, as in
// blocks_of_slices().
void sums_of_pixels(GroupNormBackward &stages, const GroupNormContext &context) {
    const Var co("co"), cos("cos");
    const Expr blocks = clamp(ceil_div(context.channels, kWarp), 1, 1 << 15);
    for (Func out : {stages.bias_sums, stages.weight_sums}) {
        all_channels(out, context)
            .compute_root()
            .bound(n, 0, stages.parts)
            .split(c, co, c, kWarp, guard)
            .split(co, cos, co, blocks, guard)
            .split(n, part, n, 1)
            .reorder(c, cos, n, part, co, g)
            .gpu_blocks(part, co, g)
            .gpu_threads(c)
            .never_partition_all();
    }
    stages.weight_sums.compute_with(stages.bias_sums, c);
    LaneSums &sums = stages.of_pixels;
    sums.of_lane.compute_at(stages.bias_sums, cos)
        .store_in(MemoryType::GPUShared)
        .bound_extent(c, kWarp)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .reorder(c, sums.lane)
        .reorder_storage(c, sums.lane)
        .gpu_threads(c, sums.lane)
        .never_partition_all();
    for (Func one : {stages.place, stages.statistics, sums.block_sum})
        one.compute_at(sums.of_lane, c).store_in(MemoryType::Register).bound_extent(n, 1);
    for (Func one : {stages.statistics, sums.block_sum}) one.bound_extent(c, 1).bound_extent(g, 1);
    sums.block_sum.bound_extent(sums.lane, 1).update().unroll(sums.in_block.x, 8);
}

// A thread has 8 pixels of a row, of 32 channels after the other: an output that is not wanted has
// no channels, and a grid at least one block.
void gradient_of_input(GroupNormBackward &stages, int together) {
    const Var co("co"), xo("xo"), xt("xt"), yo("yo"), no("no"), block("block");
    Func out = stages.input_gradient;
    out.compute_root()
        .split(c, co, c, kWarp, guard)
        .split(x, xt, x, together, guard)
        .split(xt, xo, xt, 8, guard)
        .split(y, yo, y, 1)
        .split(n, no, n, 1)
        .reorder(x, co, c, xt, y, n, xo, yo, no, g)
        .fuse(yo, no, block)
        .fuse(xo, block, block)
        .gpu_blocks(block, g)
        .gpu_threads(c, xt)
        .unroll(x)
        .never_partition_all();
    load_together(stages, out, co, together);
}

}  // namespace

// Kernels: blocks write the sums of 256 pixels of 32 channels into memory; others add up those of a
// group; threads make the gradient of the input; the last are those of
// group_norm_backward_groups(). Both images are read twice.
void group_norm_backward_parts(GroupNormBackward &stages, const GroupNormContext &context) {
    sums_of_pixels(stages, context);
    factors_of_groups(stages.factors, {&stages.of_channels}, stages.of_channels.total, context);
    gradient_of_input(stages, group_norm_sizes(context).together);
    gradients_of_vectors(stages, context);
}

}  // namespace hk::schedules::gpu
