#include "schedules/group_norm/group_norm.h"

#include "generators/ceil_div.h"
#include "schedules/gpu_elements.h"
#include "schedules/group_norm/gpu/lane_sums.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// Loops over an image, or a group of it: of a block of threads, 8 channels at 32 pixels (nhwc) or
// 256 columns (nchw) at a time.
void blocks_of_groups(Func out, const GroupNormContext &context) {
    const Var thread("thread"), ci("ci"), xi("xi"), co("co"), xo("xo");
    out.compute_root();
    if (context.nhwc) {
        out.split(c, co, ci, 8, guard)
            .split(x, xo, xi, 32, guard)
            .reorder(ci, xi, co, xo, y, g, n)
            .fuse(ci, xi, thread)
            .reorder(co, xo, y, thread, g, n);
    } else {
        out.split(x, xo, thread, 256, guard).reorder(xo, y, c, thread, g, n);
    }
    out.gpu_threads(thread);
    blocks_of_slices(out, n, context.batch);
}

// What blocks_of_groups() makes the output from, and the statistics that are saved.
void sums_of_group(GroupNorm &stages, const GroupNormContext &context) {
    Func out = stages.output;
    for (Func one : {stages.mean, stages.rstd}) {
        one.compute_root().reorder(group, g, n);
        blocks_of_slices(one, n, context.batch);
        one.compute_with(out, g);
    }
    for (LaneSums *sums : {&stages.first, &stages.about}) in_threads(*sums, out, g);
    for (Func one : {stages.middle, stages.statistics}) of_block(one, out, g);
    stages.statistics.bound_extent(group, 1);
}

// Sums over the pixels of a channel of an image: `tile` channels a block, and `lanes` threads for
// each; both results from one set of sums.
void sums_of_pixels(GroupNormBackward &stages, const GroupNormContext &context, int tile,
                    bool staged) {
    const Var co("co"), cos("cos"), row("row"), rows("rows");
    const Expr most = 1 << 15;  // blocks in the second and third dimension of a grid
    LaneSums &sums = stages.of_pixels;
    for (Func out : {stages.bias_sums, stages.weight_sums}) {
        out.compute_root()
            .split(c, co, c, tile, guard)
            .split(co, cos, co, clamp(ceil_div(context.channels, tile), 1, most), guard)
            .split(n, rows, row, clamp(context.batch, 1, most), guard)
            .reorder(c, cos, rows, g, row, co)
            .gpu_blocks(g, row, co)
            .gpu_threads(c)
            .never_partition_all();
    }
    if (!staged) {
        stages.weight_sums.compute_with(stages.bias_sums, c);
        in_registers(sums, stages.bias_sums, c);
        for (const Var &one : {c, g, n}) sums.running.bound_extent(one, 1);
        return;
    }
    stages.weight_sums.compute_with(stages.bias_sums, cos);
    for (Func one : {sums.of_lane, sums.folded}) {
        one.compute_at(stages.bias_sums, cos)
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

// The output of group_norm_vectors(), of nhwc, of a pixel that threads hold.
void held_in_vectors(GroupNorm &stages, const GroupNormSizes &sizes) {
    const Var vector("vector"), turn("turn"), round("round"), thread("thread");
    Func out = stages.output;
    out.compute_root()
        .split(c, vector, c, kVectorOfRow, TailStrategy::RoundUp)
        .split(vector, turn, vector, sizes.lanes * sizes.held, guard)
        .split(vector, round, thread, sizes.lanes)
        .reorder(c, round, turn, x, y, thread, g, n)
        .vectorize(c)
        .unroll(round)
        .gpu_threads(thread);
    const Var of("of_vector");
    stages.terms.compute_at(out, g)
        .store_in(MemoryType::Register)
        .bound(pixel, 0, kVectorOfRow * sizes.held)
        .bound(stages.lane, 0, sizes.lanes)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .split(pixel, pixel, of, kVectorOfRow)
        .unroll(of)
        .unroll(pixel)
        .gpu_threads(stages.lane)
        .never_partition_all();
    stages.loaded.compute_at(stages.terms, pixel)
        .store_in(MemoryType::Register)
        .bound_extent(pixel, kVectorOfRow)
        .bound_extent(stages.lane, 1)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .vectorize(pixel);
    stages.of_columns.compute_at(out, round)
        .store_in(MemoryType::Register)
        .bound_extent(c, kVectorOfRow)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .vectorize(c);
    for (LaneSums *sums : {&stages.first, &stages.about})
        sums->block_sum.update().unroll(sums->in_block.x);
}

// Of nchw, with what its columns have of their channels.
void columns_in_vectors(GroupNorm &stages, int threads) {
    const Var vector("vector"), round("round"), thread("thread");
    Func out = stages.output;
    out.compute_root()
        .split(x, vector, x, kVectorOfRow, TailStrategy::RoundUp)
        .split(vector, round, thread, threads, guard)
        .reorder(x, round, y, c, thread, g, n)
        .vectorize(x)
        .gpu_threads(thread);
    for (Func one : {stages.of_vector, stages.of_columns}) {
        one.compute_at(out, round).store_in(MemoryType::Register);
        for (const Var &of : {x, c, g, n}) one.bound_extent(of, 1);
    }
    stages.of_columns.bound(pixel, 0, kVectorOfRow).unroll(pixel);
    stages.of_columns.update().unroll(stages.after.x);
}

// Of nhwc, whose channels have theirs for all pixels of a thread.
void channels_in_vectors(GroupNorm &stages, int threads) {
    const Var vector("vector"), co("co"), ci("ci"), xo("xo"), xi("xi"), both("both"),
        round("round"), thread("thread");
    Func out = stages.output;
    out.compute_root()
        .split(c, vector, c, kVectorOfRow, TailStrategy::RoundUp)
        .split(vector, co, ci, stages.across, guard)
        .split(x, xo, xi, stages.down, guard)
        .reorder(c, ci, xi, xo, co, y, g, n)
        .fuse(ci, xi, both)
        .split(both, round, thread, threads, guard)
        .reorder(c, xo, co, y, round, thread, g, n)
        .vectorize(c)
        .gpu_threads(thread);
    stages.of_columns.compute_at(out, co)
        .store_in(MemoryType::Register)
        .bound_extent(c, kVectorOfRow)
        .unroll(c);
    for (const Var &of : {g, n}) stages.of_columns.bound_extent(of, 1);
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
    blocks_of_groups(stages.output, context);
    sums_of_group(stages, context);
}

// The same in vectors, of as many threads as the knob `lanes` says.
void group_norm_vectors(GroupNorm &stages, const GroupNormContext &context) {
    const GroupNormSizes sizes = group_norm_sizes(context);
    sizes.held > 0 ? held_in_vectors(stages, sizes)
    : context.nhwc ? channels_in_vectors(stages, sizes.lanes)
                   : columns_in_vectors(stages, sizes.lanes);
    blocks_of_slices(stages.output, n, context.batch);
    sums_of_group(stages, context);
    if (sizes.held > 0) return;
    for (LaneSums *sums : {&stages.first, &stages.about}) {
        Func terms = sums->terms;
        terms.compute_at(sums->block_sum, sums->in_block.y).store_in(MemoryType::Register);
        for (const Var &of : terms.args()) {
            if (!of.same_as(sums->term)) terms.bound_extent(of, 1);
        }
        terms.bound(sums->term, 0, kVectorOfRow).vectorize(sums->term);
        sums->block_sum.update().unroll(sums->in_block.x);
    }
}

// A warp a group, 8 of them a block: groups of few pixels and many channels. As group_norm(), 8
// times the shared memory of a warp.
void group_norm_rows(GroupNorm &stages, const GroupNormContext &) {
    constexpr int kLanes = 32, kGroups = 8;
    const Var block("block"), thread("thread"), co("co");
    Func out = stages.output;
    out.compute_root()
        .split(c, co, thread, kLanes, guard)
        .split(n, block, n, kGroups, guard)
        .reorder(co, x, y, thread, n, block, g)
        .gpu_blocks(block, g)
        .gpu_threads(thread, n)
        .never_partition_all();
    for (Func one : {stages.mean, stages.rstd}) {
        one.compute_root()
            .split(n, block, n, kGroups, guard)
            .reorder(group, n, block, g)
            .gpu_blocks(block, g)
            .gpu_threads(n)
            .never_partition_all();
        one.compute_with(out, block);
    }
    for (LaneSums *sums : {&stages.first, &stages.about}) {
        for (Func one : {sums->of_lane, sums->folded}) {
            one.compute_at(out, block)
                .store_in(MemoryType::GPUShared)
                .bound_extent(n, kGroups)
                .bound_extent(g, 1)
                .reorder(sums->lane, n)
                .gpu_threads(sums->lane, n)
                .never_partition_all();
        }
        in_registers(*sums, sums->of_lane, sums->lane);
    }
    for (Func one : {stages.middle, stages.statistics}) {
        one.compute_at(out, block)
            .store_in(MemoryType::GPUShared)
            .bound_extent(n, kGroups)
            .bound_extent(g, 1)
            .gpu_threads(n);
    }
    stages.statistics.bound_extent(group, 1);
}

// A group a thread, which stages nothing, for devices without shared memory.
void group_norm_unstaged(GroupNorm &stages, const GroupNormContext &context) {
    Func out = stages.output;
    threads_of_groups(
        out, context.nhwc ? std::vector<VarOrRVar>{c, x, y} : std::vector<VarOrRVar>{x, y, c},
        context.batch);
    for (Func one : {stages.mean, stages.rstd}) {
        threads_of_groups(one, {group}, context.batch);
        one.compute_with(out, n);
    }
    for (LaneSums *sums : {&stages.first, &stages.about}) in_registers(*sums, out, n);
    for (Func one : {stages.middle, stages.statistics}) of_thread(one, out, n);
    stages.statistics.bound_extent(group, 1);
}

// Three kernels, of nchw: sums over the pixels of each channel, by a block of threads; the gradient
// of the input by a block a group; those of weight and bias by a thread a channel.
void group_norm_backward(GroupNormBackward &stages, const GroupNormContext &context) {
    sums_of_pixels(stages, context, 1, true);
    Func out = stages.input_gradient;
    blocks_of_groups(out, context);
    in_threads(stages.of_channels, out, g);
    of_block(stages.of_channels.total, out, g);
    // Once a channel: of 16 bits LLVM leaves what they are divided by in the loops over pixels.
    stages.factors.compute_at(out, c).store_in(MemoryType::Register);
    for (const Var &one : {c, g, n}) stages.factors.bound_extent(one, 1);
    gradients_of_vectors(stages);
}

// The same without shared memory: a thread a channel of an image, then a thread a group.
void group_norm_backward_unstaged(GroupNormBackward &stages, const GroupNormContext &context) {
    sums_of_pixels(stages, context, 64, false);
    Func out = stages.input_gradient;
    threads_of_groups(
        out, context.nhwc ? std::vector<VarOrRVar>{c, x, y} : std::vector<VarOrRVar>{x, y, c},
        context.batch);
    in_registers(stages.of_channels, out, n);
    of_thread(stages.of_channels.total, out, n);
    gradients_of_vectors(stages);
}

}  // namespace hk::schedules::gpu
