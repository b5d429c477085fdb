#include "schedules/group_norm/group_norm.h"

#include "schedules/gpu_elements.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// Loops over an image, or a group of it: of a block of threads, 8 channels at 32 pixels (nhwc) or
// 256 columns (nchw) at a time. Only the first dimension of a grid may be longer than 65535.
void blocks_of_groups(Func out, const GroupNormContext &context) {
    const Var thread("thread"), ci("ci"), xi("xi"), co("co"), xo("xo");
    out.compute_root();
    if (context.nhwc) {
        out.split(c, co, ci, 8, guard)
            .split(x, xo, xi, 32, guard)
            .reorder(ci, xi, co, xo, y, n, g)
            .fuse(ci, xi, thread)
            .reorder(co, xo, y, thread, n, g);
    } else {
        out.split(x, xo, thread, 256, guard).reorder(xo, y, c, thread, n, g);
    }
    out.gpu_blocks(n, g).gpu_threads(thread).never_partition_all();
}

// A group a thread.
void threads_of_groups(Func out, const GroupNormContext &context) {
    const Var block("block");
    const std::vector<Var> inside =
        context.nhwc ? std::vector<Var>{c, x, y} : std::vector<Var>{x, y, c};
    out.compute_root()
        .split(n, block, n, 64, guard)
        .reorder(inside[0], inside[1], inside[2], n, block, g)
        .gpu_blocks(block, g)
        .gpu_threads(n)
        .never_partition_all();
}

// What a thread adds up, in registers.
void in_registers(LaneSums &sums, Func at, const Var &loop) {
    sums.running.compute_at(at, loop)
        .store_in(MemoryType::Register)
        .bound_extent(sums.lane, 1)
        .update()
        .reorder(sums.blocks.x, sums.blocks.y, sums.blocks.z)
        .never_partition_all();
    sums.block_sum.compute_at(sums.running, sums.blocks.x)
        .store_in(MemoryType::Register)
        .bound_extent(sums.lane, 1)
        .update()
        .reorder(sums.in_block.x, sums.in_block.y, sums.in_block.z)
        .never_partition_all();
}

// Lanes are threads of the block, which put their sums into shared memory.
void in_threads(LaneSums &sums, Func at, const Var &loop) {
    sums.of_lane.compute_at(at, loop)
        .store_in(MemoryType::GPUShared)
        .bound_extent(n, 1)
        .bound_extent(g, 1)
        .gpu_threads(sums.lane)
        .never_partition_all();
    in_registers(sums, sums.of_lane, sums.lane);
    sums.folded.compute_at(at, loop)
        .store_in(MemoryType::GPUShared)
        .bound_extent(n, 1)
        .bound_extent(g, 1)
        .gpu_threads(sums.lane)
        .never_partition_all();
}

void of_block(Func f, Func at, const Var &loop) {
    f.compute_at(at, loop).store_in(MemoryType::GPUShared).bound_extent(n, 1).bound_extent(g, 1);
}

void of_thread(Func f, Func at, const Var &loop) {
    f.compute_at(at, loop).store_in(MemoryType::Register).bound_extent(n, 1).bound_extent(g, 1);
}

// Sums over the pixels of a channel of an image: `tile` channels a block, and `lanes` threads for
// each; both results from one set of sums.
void sums_of_pixels(GroupNormBackward &stages, int tile, bool staged) {
    const Var co("co");
    LaneSums &sums = stages.of_pixels;
    for (Func out : {stages.bias_sums, stages.weight_sums}) {
        out.compute_root()
            .split(c, co, c, tile, guard)
            .reorder(c, n, co, g)
            .gpu_blocks(n, co, g)
            .gpu_threads(c)
            .never_partition_all();
    }
    if (!staged) {
        stages.weight_sums.compute_with(stages.bias_sums, c);
        in_registers(sums, stages.bias_sums, c);
        for (const Var &one : {c, g, n}) sums.running.bound_extent(one, 1);
        return;
    }
    stages.weight_sums.compute_with(stages.bias_sums, n);
    for (Func one : {sums.of_lane, sums.folded}) {
        one.compute_at(stages.bias_sums, n)
            .store_in(MemoryType::GPUShared)
            .bound_extent(c, tile)
            .bound_extent(g, 1)
            .bound_extent(n, 1)
            .reorder(c, sums.lane)
            .gpu_threads(c, sums.lane)
            .never_partition_all();
    }
    in_registers(sums, sums.of_lane, c);
}

void gradients_of_vectors(GroupNormBackward &stages) {
    element_a_thread(stages.bias_gradient, {c, g});
    add_up_in_thread(stages.bias_parts, stages.bias_gradient, c);
    element_a_thread(stages.weight_gradient, {c, g});
    add_up_in_thread(stages.weight_parts, stages.weight_gradient, c);
}

}  // namespace

// A block of threads a group. What threads have of it is a register each until they put it into
// shared memory: 12 bytes a lane, 12 of 16 sets of lanes, and some for the group. The group is read
// three times.
void group_norm(GroupNorm &stages, const GroupNormContext &context) {
    Func out = stages.output;
    blocks_of_groups(out, context);
    for (Func one : {stages.mean, stages.rstd}) {
        one.compute_root().reorder(group, n, g).gpu_blocks(n, g).never_partition_all();
        one.compute_with(out, n);
    }
    for (LaneSums *sums : {&stages.first, &stages.about}) in_threads(*sums, out, n);
    for (Func one : {stages.middle, stages.statistics}) of_block(one, out, n);
    stages.statistics.bound_extent(group, 1);
}

// A group a thread, which stages nothing, for devices without shared memory.
void group_norm_unstaged(GroupNorm &stages, const GroupNormContext &context) {
    const Var block("block");
    Func out = stages.output;
    threads_of_groups(out, context);
    for (Func one : {stages.mean, stages.rstd}) {
        one.compute_root()
            .split(n, block, n, 64, guard)
            .reorder(group, n, block, g)
            .gpu_blocks(block, g)
            .gpu_threads(n)
            .never_partition_all();
        one.compute_with(out, n);
    }
    for (LaneSums *sums : {&stages.first, &stages.about}) in_registers(*sums, out, n);
    for (Func one : {stages.middle, stages.statistics}) of_thread(one, out, n);
    stages.statistics.bound_extent(group, 1);
}

// Three kernels: sums over the pixels of each channel, by a block of threads of which 32 (nhwc) or
// 256 (nchw) have a channel; the gradient of the input by a block a group; those of weight and bias
// by a thread a channel.
void group_norm_backward(GroupNormBackward &stages, const GroupNormContext &context) {
    sums_of_pixels(stages, context.nhwc ? 8 : 1, true);
    Func out = stages.input_gradient;
    blocks_of_groups(out, context);
    in_threads(stages.of_channels, out, n);
    of_block(stages.of_channels.total, out, n);
    gradients_of_vectors(stages);
}

// The same without shared memory: a thread a channel of an image, then a thread a group.
void group_norm_backward_unstaged(GroupNormBackward &stages, const GroupNormContext &context) {
    sums_of_pixels(stages, 64, false);
    Func out = stages.input_gradient;
    threads_of_groups(out, context);
    in_registers(stages.of_channels, out, n);
    of_thread(stages.of_channels.total, out, n);
    gradients_of_vectors(stages);
}

}  // namespace hk::schedules::gpu
