#include "generators/ceil_div.h"
#include "schedules/conv2d_backward/conv2d_backward_weight.h"
#include "schedules/transpose.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// The sums that are in registers while a tile passes: of all taps, of g groups.
struct PeeledSums {
    int g;
    int step;    // columns side by side: they share what they meet of the input
    int rows;    // 1: those whose windows reach past an edge have loops of their own
    int tail;    // 0: groups are a multiple of g; 1: masked; 2: masked, in loops of its own
    int pixels;  // of a tile
    int part;    // thousands of products that pay for a part
};

PeeledSums choose(const Conv2dBackwardWeightContext &context) {
    PeeledSums sums = {32, 2, context.stride_y == 1, 1, 256, 1024};
    if (!context.nhwc) {
        sums.g = 16;
        sums.pixels = 1024;  // whole planes are transposed
        if (context.stride_y == 2 && context.kernel_h == 3 && one_multiply_add(context.target))
            sums.step = 1;
    }
    Knobs knobs(context.knobs);
    if (context.nhwc) knobs.take("g", sums.g, {16, 32});
    knobs.take("step", sums.step, steps(1, 8));
    knobs.take("rows", sums.rows, {0, 1});
    if (context.nhwc) knobs.take("tail", sums.tail, {0, 1, 2});
    knobs.take("pixels", sums.pixels, powers(8, 4096));
    knobs.take("part", sums.part, powers(1, 65536));
    knobs.end();
    const int lanes = context.target.natural_vector_size<float>();
    if (lanes < 16) {
        sums.g = lanes;                     // of 16 registers, which hold one vector's sums
        if (sums.tail == 1) sums.tail = 2;  // SSE has no masked loads: one by one
        if (context.stride_y == 2) {  // of one vector's sums a row takes less than its conditions
            sums.rows = 1;
            if (context.width == 0) sums.step = 1;
        }
    }
    const int taps = context.kernel_w * context.kernel_h, vectors = (sums.g + lanes - 1) / lanes;
    knobs.estimate("vector registers", vectors * (taps + sums.step) + 1,
                   vector_registers(context.target));
    return sums;
}

// Blocks of groups of a task: all of one thread, which then reads whole pixels. No sum depends on
// it.
Expr blocks_of_task(const Conv2dBackwardWeightPeeled &stages, const Expr &blocks) {
    const Expr threads = number_of_threads();
    const Expr tasks = select(threads > 1, ceil_div(2 * threads, stages.parts.x.extent()), 1);
    return max(ceil_div(blocks, tasks), 1);
}

// A block's planes, before its pixels pass.
void transpose(TransposedPlanes &planes, const LoopLevel &at, const LoopLevel &storage) {
    const RDom &run = planes.run;
    const int groups = planes.groups;
    const Var group = planes.panel.args()[0];
    planes.panel.compute_at(at)
        .hoist_storage(storage)
        .bound_extent(group, groups)
        .update()
        .reorder(group, run.x, run.y)
        .vectorize(group)
        .unroll(run.x);
    transpose_at(LoopLevel(planes.panel, run.y), planes.there, {groups, groups},
                 arguments_of_tiles(planes.there));
}

}  // namespace

namespace cpu {

PeeledTiles tiles_of_peeled(const Conv2dBackwardWeightContext &context) {
    const PeeledSums sums = choose(context);
    return {.step = sums.step,
            .pixels = sums.pixels,
            .products = 1024 * sums.part,
            .whole = sums.tail == 0,
            .tail_apart = sums.tail == 2,
            .transposed = context.nhwc ? 0 : sums.g};
}

// Images that caches do not hold are read once, from front to end: a tile's pixels are read by all
// groups before the next tile. Two vectors of groups a pixel are two lines side by side. Where
// edges are asked for, that is once a step and a row of the filter. A filter without gaps is stored
// in whole vectors, of all taps of 16 groups.
//
// bench --family conv2d_backward_weight --list mobilenetv2 --filter 28x28_192 on Zen 4: 29 us, with
// a stride of 2 11.6 us (oneDNN on blocks of 16 groups 26.5 and 8.8). Groups that are no multiple
// of 16 begin within a line of the cache, and vectors meet two: bench --family
// conv2d_backward_weight --list input=1x28x28x200,weight=200x3x3x1,padding=1,groups=200 37.5 us.
//
// Lost, by knobs (explorer run conv2d_backward_weight 28x28_192-192_3x3_depthwise --row
// depthwise3x3_s1_32): one vector of groups, g:16,step:4, 1.25 times as slow; rows:0 1.1 times, but
// with a stride of 2 rows:1 is 1.1 times as slow.
//
// Lost, as fast or slower: columns past an edge in loops of their own, of a tile or of a row;
// selects in the place of branches; a last block of groups that begins in the one before; a branch
// around a block's second vector; three vectors of groups; vectors of 8 groups, which meet one line
// where groups are a multiple of 8; prefetching the next row.
//
// Of nchw a block is one vector of groups, whose planes are transposed before a tile passes: of 16
// groups four shuffles a pixel of both images, beside the 9 multiply-adds of a 3x3 filter. bench
// --family conv2d_backward_weight --layout nchw --list mobilenetv2 --filter 14x14_576-576_3x3_d
// 43 us on Zen 4, by --row depthwise3x3_s1 58 us. Lost: vectors of neighbouring columns, read where
// they are, by masks, or from rows that are copied: each group's sums of lanes are added up, 44 us,
// and at 7x7 31 us for 23.
void backward_weight_peeled(Conv2dBackwardWeightPeeled &stages,
                            const Conv2dBackwardWeightContext &context) {
    constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;
    const PeeledSums t = choose(context);
    const int lanes = std::min(context.target.natural_vector_size<float>(), t.g);
    const Var gt("gt"), gb("gb");
    const RDom &pixel = stages.pixel;
    Func &out = stages.output, &partial = stages.partial, &tile = stages.tile_sum;
    out.split(g, gt, g, lanes, guard).reorder({g, s, r, gt, c, k}).vectorize(g);
    out.specialize(context.plain && context.packed).unroll(s).unroll(r);
    stages.sum.compute_at(out, gt).align_bounds(g, lanes).bound_extent(g, lanes);
    stages.sum.update().reorder({g, s, r, stages.parts});
    for (Stage stage : {Stage(stages.sum), Stage(stages.sum.update())})
        stage.vectorize(g, lanes).unroll(s).unroll(r);
    partial.compute_root().vectorize(g, lanes, round_up);
    partial.update()
        .split(g, gt, g, t.g, round_up)
        .split(gt, gb, gt, blocks_of_task(stages, ceil_div(context.groups, t.g)), guard)
        .reorder({g, s, r, gt, stages.of, gb, stages.part})
        .vectorize(g, lanes)
        .unroll(g)
        .unroll(s)
        .unroll(r)
        .partition(gt, Partition::Always)
        .parallel(gb)
        .parallel(stages.part);
    tile.compute_at(partial, gt).bound_extent(g, t.g);
    stages.gradient.compute_at(tile, pixel.y)
        .bound_extent(g, t.g)
        .bound(stages.column, 0, t.step)
        .vectorize(g, lanes)
        .unroll(g)
        .unroll(stages.column);
    tile.update()
        .reorder({g, s, pixel.x, r, pixel.y, pixel.z})
        .unroll(pixel.x)
        .partition(pixel.y, Partition::Always)
        .partition(pixel.z, t.rows ? Partition::Always : Partition::Never);
    for (Stage stage : {Stage(tile), Stage(tile.update())})
        stage.vectorize(g, lanes).unroll(g).unroll(s).unroll(r);
    if (context.nhwc) return;
    for (TransposedPlanes *planes : {&stages.input_planes, &stages.gradient_planes})
        transpose(*planes, LoopLevel(partial, gt), LoopLevel(partial, gb));
}

}  // namespace cpu

}  // namespace hk::schedules
