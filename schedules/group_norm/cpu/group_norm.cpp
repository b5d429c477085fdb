#include "schedules/group_norm/group_norm.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

GroupNormSizes group_norm_sizes(const GroupNormContext &context) {
    const int vector = context.target.natural_vector_size<float>();
    GroupNormSizes sizes = {true, 1, 1, 1, 8, 8, 64};
    Knobs knobs(context.knobs);
    if (context.schedule == "cached_group") {
        sizes.lanes = 4 * vector;
        sizes.width = 8;
        sizes.block = 128;
        knobs.take("lanes", sizes.lanes, powers(8, 128));
        knobs.take("block", sizes.block, {0, 16, 32, 64, 128, 256});
    } else if (context.schedule == "cached_slice") {
        knobs.take("block", sizes.block, powers(8, 256));
    } else if (context.schedule == "cached_part" && !context.nhwc) {
        sizes.lanes = 2 * vector;
        sizes.width = 8;
        knobs.take("lanes", sizes.lanes, powers(8, 128));
    } else if (context.schedule == "cached_rows") {
        sizes.channel_lanes = 2 * vector;
        knobs.take("lanes", sizes.channel_lanes, powers(8, 128));
    } else if (context.schedule == "block_a_group") {
        sizes = {false, 256, 16, context.nhwc ? 32 : 1, 256, 16, 0};
    } else if (context.schedule == "vectors_of_group") {
        sizes = {false, 256, 16, 1, 256, 16, 0, kVectorOfRow};
        int short_sums = 0;
        knobs.take("lanes", sizes.lanes, powers(32, 1024));
        knobs.take("short", short_sums, {0, 1});
        knobs.take("held", sizes.held, {0, 2, 4, 8});
        knobs.require(context.nhwc || sizes.held == 0, "channels are held");
        sizes.short_sums = short_sums != 0;
    } else if (context.schedule == "warp_a_group") {
        sizes = {false, 32, 8, 1, 32, 8, 0};
    } else if (context.schedule == "threads_of_parts") {
        sizes = {false, 1, 1, context.nhwc ? 64 : 512, 512, 16, 64, 8};
    } else if (context.schedule == "block_a_channel") {
        sizes = {false, 256, 16, 1, 256, 16, 0};
    } else if (context.schedule == "block_of_a_group") {
        const int near = context.nhwc ? 32 : 8;
        sizes = {false, 256, 32, 1, 32, 8, 0, 1, near, 1, 8};
        knobs.take("vector", sizes.together, {1, kVectorOfRow});
        knobs.require(context.nhwc || sizes.together == 1, "vectors are of channels");
        if (sizes.together > 1) sizes.width = sizes.near = 8;
    } else if (context.schedule == "block_of_rows") {
        sizes = {false, 256, 256, 1, 32, 8, 0, 1, 256, 32, 8, true};
    } else if (context.schedule == "block_of_parts") {
        sizes = {false, 8, 1, 32, 256, 16, kPixelsOfPart / 8, 8, 1, 1, 8};
    } else if (context.schedule == "unstaged") {
        sizes = {false, 1, 1, 1, 1, 1, 0};
    }
    knobs.end();
    return sizes;
}

namespace cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf, mask = TailStrategy::Predicate;

// Tasks of so many slices, or groups, that these are 16384 elements together, of several images
// where all of one are fewer; loops are not fused, or Halide takes all slices for the bounds of one.
void in_tasks(Func out, const GroupNormContext &context) {
    const Var images("images"), slices("slices");
    const Expr elements = context.channels * context.pixels;
    const Expr together = clamp(16384 / elements, 1, context.slices);
    out.compute_root()
        .split(g, slices, g, together, guard)
        .split(n, images, n, max(16384 / (elements * together), 1), guard)
        .reorder(g, n, slices, images)
        .parallel(slices)
        .parallel(images)
        .never_partition(g, n, slices, images);
}

// What the next turn of a loop reads, while this one writes: else memory would be read and written
// by turns.
void prefetch_next(Func out, const Var &at, const Var &loop, const GroupNormContext &context) {
    for (const Parameter &image : context.read)
        out.prefetch(image, at, loop, 1, PrefetchBoundStrategy::NonFaulting);
}

// In a slice's loop, of that alone.
Func of_slice(Func f, Func at, const Var &slice) {
    return f.compute_at(at, slice).bound_extent(g, 1).bound_extent(n, 1);
}

// Its lanes are vectors, what is left over of them one under a mask.
void in_vectors(LaneSums &sums, Func at, const Var &loop, int vector, int lanes) {
    const RDom &in = sums.in_block, &blocks = sums.blocks;
    if (sums.is_long) {
        of_slice(sums.running, at, loop)
            .vectorize(sums.lane)
            .update()
            .reorder(sums.lane, blocks.x, blocks.y, blocks.z)
            .vectorize(sums.lane)
            .never_partition_all();
        sums.block_sum.compute_at(sums.running, blocks.x);
    } else {
        sums.block_sum.compute_at(at, loop);
    }
    sums.block_sum.vectorize(sums.lane)
        .update()
        .reorder(sums.lane, in.x, in.y, in.z)
        .vectorize(sums.lane);
    if (sums.has_rest) {
        const RVar outer("outer"), inner("inner");
        sums.block_sum.bound(sums.lane, 0, lanes)
            .update(1)
            .split(sums.rest.x, outer, inner, std::min(lanes, vector), mask)
            .reorder(inner, outer, sums.rest.y, sums.rest.z)
            .vectorize(inner);
    }
    of_slice(sums.folded, at, loop).vectorize(sums.lane);
}

// What each channel of a slice has from its group: those of a group are next to each other.
void each_channel(Func f, int lanes) {
    f.update().allow_race_conditions().vectorize(RVar(f.rvars()[0]), lanes, mask);
}

void merge(GroupNorm &stages, Func at, const Var &loop, int lanes) {
    of_slice(stages.of_block, at, loop);
    of_slice(stages.merged, at, loop);
    for (BlockedSum *sum : {&stages.offsets, &stages.squares}) {
        if (!sum->running.defined()) continue;  // of one block
        const RDom &blocks = sum->blocks, &in = sum->in_block;
        of_slice(sum->running, at, loop).update().never_partition_all();
        sum->block_sum.compute_at(sum->running, blocks.x).update().never_partition_all();
        if (lanes == 1) continue;
        sum->running.vectorize(c, lanes, mask)
            .update()
            .reorder(c, blocks.x, blocks.y, blocks.z)
            .vectorize(c, lanes, mask);
        sum->block_sum.vectorize(c, lanes, mask)
            .update()
            .reorder(c, in.x, in.y, in.z)
            .vectorize(c, lanes, mask);
    }
    if (lanes > 1) stages.merged.vectorize(c, lanes, mask);
}

}  // namespace

// A slice of channels of an image from memory, in blocks of pixels, each read twice while it is in
// cache; then once more for the output, from the second cache where the slice fits it.
void group_norm_channels(GroupNorm &stages, const GroupNormContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const Var co("co");
    Func out = stages.output;
    out.split(c, co, c, lanes, mask).reorder(c, co, x, y, g, n).vectorize(c);
    prefetch_next(out, co, n, context);
    for (Func one : {out, stages.mean, stages.rstd}) in_tasks(one, context);
    stages.mean.compute_with(out, g);
    stages.rstd.compute_with(out, g);
    for (Func one : {stages.statistics, stages.factors}) of_slice(one, out, g);
    each_channel(stages.factors, lanes);
    const GroupNormSizes sizes = group_norm_sizes(context);
    for (LaneSums *sums : {&stages.channel_offsets, &stages.channel_squares})
        in_vectors(*sums, out, g, lanes, sizes.channel_lanes);
    merge(stages, out, g, lanes);
    stages.of_block.vectorize(c, lanes, mask).reorder(c, stages.bx, stages.by, stages.bz);
    stages.middle.compute_at(stages.of_block, stages.bx).vectorize(c, lanes, mask);
    for (LaneSums *sums : {&stages.first, &stages.about}) {
        const RDom &in = sums->in_block;
        // From memory a pixel after the other; from cache with the sums in registers.
        const bool from_memory = sums == &stages.first;
        Stage stage = sums->block_sum.compute_at(stages.of_block, stages.bx)
                          .vectorize(c, lanes, mask)
                          .update()
                          .split(c, co, c, from_memory ? lanes : 4 * lanes, mask);
        from_memory ? stage.reorder(c, co, in.x, in.y, in.z)
                    : stage.reorder(c, in.x, in.y, in.z, co);
        stage.vectorize(c);
    }
}

// A group after another, in blocks that the first cache holds, each read twice; then once more for
// the output, from the second cache where the group fits it.
void group_norm_runs(GroupNorm &stages, const GroupNormContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const Var inner("inner"), outer("outer");
    Func out = stages.output;
    const std::vector<Var> order =
        context.nhwc ? std::vector<Var>{c, x, y} : std::vector<Var>{x, y, c};
    out.split(order[0], outer, inner, lanes, mask)
        .reorder(inner, outer, order[1], order[2], g, n)
        .vectorize(inner);
    prefetch_next(out, outer, g, context);
    for (Func one : {out, stages.mean, stages.rstd}) in_tasks(one, context);
    stages.mean.compute_with(out, g);
    stages.rstd.compute_with(out, g);
    of_slice(stages.statistics, out, g).bound_extent(group, 1);
    if (!context.nhwc) of_slice(stages.factors, out, c).bound_extent(c, 1);
    merge(stages, out, g, 1);
    stages.middle.compute_at(stages.of_block, stages.bx);
    const int all = group_norm_sizes(context).lanes;
    for (LaneSums *sums : {&stages.first, &stages.about})
        in_vectors(*sums, stages.of_block, stages.bx, lanes, all);
}

namespace {

// For all images of a part.
void sums_of_pixels(GroupNormBackward &stages, const GroupNormContext &context, int lanes) {
    Func out = stages.input_gradient;
    LaneSums &sums = stages.of_pixels;
    const Var co("co");
    stages.of_pixels.total.compute_at(out, g).bound_extent(g, 1);
    if (context.nhwc) {
        const RDom &in = sums.in_block, &blocks = sums.blocks;
        const RVar each("each");
        stages.statistics.compute_at(out, g).bound_extent(g, 1);
        each_channel(stages.statistics, lanes);
        sums.total.vectorize(c, lanes, mask);
        if (sums.is_long) {
            of_slice(sums.running, sums.total, g)
                .vectorize(c, lanes, mask)
                .update()
                .reorder(c, blocks.x, blocks.y, blocks.z)
                .vectorize(c, lanes, mask)
                .never_partition_all();
            sums.block_sum.compute_at(sums.running, blocks.x);
        } else {
            of_slice(sums.block_sum, sums.total, g).hoist_storage(out, g);
        }
        sums.block_sum.vectorize(c, lanes, mask)
            .update()
            .split(c, co, c, lanes, mask)
            .split(in.x, in.x, each, 1, guard)
            .reorder(c, each, co, in.x, in.y, in.z)
            .unroll(each)
            .vectorize(c);
    } else {
        in_vectors(sums, sums.total, c, lanes, group_norm_sizes(context).lanes);
    }
}

// From the sums of parts.
void gradients_of_vectors(GroupNormBackward &stages, int lanes) {
    for (auto [parts, gradient] : {std::pair{&stages.bias_parts, stages.bias_gradient},
                                   {&stages.weight_parts, stages.weight_gradient}}) {
        const RDom &blocks = parts->blocks, &in = parts->in_block;
        gradient.compute_root().vectorize(c, lanes, mask).parallel(g);
        parts->running.compute_at(gradient, g)
            .vectorize(c, lanes, mask)
            .update()
            .reorder(c, blocks.x, blocks.y, blocks.z)
            .vectorize(c, lanes, mask)
            .never_partition_all();
        parts->block_sum.compute_at(parts->running, blocks.x)
            .vectorize(c, lanes, mask)
            .update()
            .reorder(c, in.x, in.y, in.z)
            .vectorize(c, lanes, mask)
            .never_partition_all();
    }
}

}  // namespace

namespace {

// The gradient of the input by parts, whose sums for the other gradients are made beside it.
void in_parts(GroupNormBackward &stages, const GroupNormContext &context, int lanes) {
    const Var part("part"), inner("inner"), outer("outer"), co("co");
    const std::vector<Var> order =
        context.nhwc ? std::vector<Var>{c, x, y} : std::vector<Var>{x, y, c};
    Func out = stages.input_gradient;
    out.compute_root()
        .split(order[0], outer, inner, lanes, mask)
        .split(n, part, n, context.images, guard)
        .reorder(inner, outer, order[1], order[2], n, g, part)
        .vectorize(inner)
        .parallel(g)
        .parallel(part)
        .never_partition(g, part);
    prefetch_next(out, outer, context.nhwc ? part : g, context);
    for (Func sums : {stages.bias_sums, stages.weight_sums}) {
        sums.compute_root()
            .rename(n, part)
            .vectorize(c, lanes, mask)
            .parallel(g)
            .parallel(part)
            .compute_with(out, g);
    }
    const RDom &images = stages.images;
    of_slice(stages.of_part, out, g)
        .vectorize(c, lanes, mask)
        .update()
        .split(c, co, c, lanes, mask)
        .reorder(c, co, images.x, images.y, images.z)
        .vectorize(c);
    gradients_of_vectors(stages, lanes);
}

}  // namespace

// A part of the images in a slice of channels from memory, for the sums; then once more for the
// gradient of the input, from the second cache where it fits that.
void group_norm_backward(GroupNormBackward &stages, const GroupNormContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    Func out = stages.input_gradient;
    in_parts(stages, context, lanes);
    sums_of_pixels(stages, context, lanes);
    in_vectors(stages.of_channels, out, n, lanes, group_norm_sizes(context).channel_lanes);
    // Not for each image: an allocation takes as long as a row of it.
    stages.of_channels.running.hoist_storage(out, g);
    stages.of_channels.folded.hoist_storage(out, g);
    if (context.nhwc) {
        of_slice(stages.factors, out, n).hoist_storage(out, g);
        each_channel(stages.factors, lanes);
    } else {
        of_slice(stages.factors, out, c).bound_extent(c, 1);
    }
}

// The same of rows, which have few sums. The gradients of weight and bias read a part from memory;
// then each row is read twice, from the second cache and from the first.
void group_norm_backward_rows(GroupNormBackward &stages, const GroupNormContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    Func out = stages.input_gradient;
    in_parts(stages, context, lanes);
    in_vectors(stages.of_channels, out, n, lanes, group_norm_sizes(context).channel_lanes);
    of_slice(stages.of_channels.total, out, n).bound_extent(group, 1);
}

}  // namespace cpu

}  // namespace hk::schedules
