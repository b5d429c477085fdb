#include "schedules/conv2d_backward/conv2d_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// The sums of a group that are in registers: of all taps, of each lane.
ColumnTiles choose(const Conv2dBackwardWeightContext &context) {
    ColumnTiles tiles = {16, 1024, kFoldedLanes};
    Knobs knobs(context.knobs);
    knobs.take("lanes", tiles.lanes, {8, 16});
    knobs.take("pixels", tiles.pixels, powers(8, 8192));
    knobs.end();
    return tiles;
}

const Var gb("gb"), gt("gt"), tt("tt"), lt("lt");

// The lanes of a block's sums.
void fold(Conv2dBackwardWeightColumns &stages, const ColumnTiles &t, int taps,
          const LoopLevel &at) {
    const Var &lane = stages.lane, &tap = stages.tap, &block = stages.block;
    stages.folded.compute_at(at)
        .bound_extent(block, 1)
        .bound_extent(tap, taps * t.groups)
        .split(tap, tt, tap, t.groups)
        .vectorize(tap)
        .unroll(tt);
    stages.turned.compute_at(stages.folded, tt)
        .bound_extent(tap, t.groups)
        .bound(lane, 0, t.groups)
        .vectorize(tap)
        .unroll(lane);
    if (t.lanes > t.groups) {
        stages.halves.compute_at(at)
            .bound_extent(block, 1)
            .bound_extent(lane, t.groups)
            .bound_extent(tap, taps * t.groups)
            .vectorize(lane)
            .unroll(tap, t.groups);
    }
}

}  // namespace

namespace cpu {

std::optional<ColumnTiles> tiles_of_masked_columns(const Conv2dBackwardWeightContext &context) {
    if (!context.in_f32 || context.target.natural_vector_size<float>() < 16) return std::nullopt;
    return choose(context);
}

// Depthwise filters over planes (nchw) that are read where they are, past edges by masks: nothing
// is copied or transposed but a group's sums. With a stride of 1 the loop is over rows of the
// input: three loads of one, by which a vector's columns meet the filter's, and one of each row of
// the output that it belongs to are 6 for 9 multiply-adds. With 2 it is over rows of the output,
// whose three of the input are two loads each, taken apart into even and odd columns. Masks are
// made once a call, in memory: what is compared in the loop LLVM would compare in every turn of it.
//
// bench --family conv2d_backward_weight --layout nchw --list mobilenetv2 --filter 3x3 on Zen 4, us,
// and as it was, of transposed planes (28x28, 56x56 with a stride of 2) or copied rows: 112x112_32
// 85 and 129, 56x56_144 110 and 146, 28x28_192 39 and 52; with a stride of 2 112x112_96 169 and
// 208, 56x56_144 58 and 75, 28x28_192 23 and 26.
//
// Lost, --knobs lanes:8 (vectors of 256 bits, of which more lie within a line of the cache): as
// fast at 14x14, 1.2 times as slow at 28x28, 1.3 times at 112x112. Lost also: a sum that is left as
// it is where a mask is not set, which is no fused multiply-add; conditions on rows in the masks;
// rows of the output side by side with a stride of 1; two groups side by side; a task of as many
// groups as the pixels say, which takes twice as long.
void backward_weight_masked_columns(Conv2dBackwardWeightColumns &stages,
                                    const Conv2dBackwardWeightContext &context) {
    constexpr TailStrategy guard = TailStrategy::GuardWithIf;
    const ColumnTiles t = choose(context);
    const int taps = context.kernel_w * context.kernel_h;
    const RDom &pixel = stages.pixel, &of = stages.of;
    const Var &lane = stages.lane, &tap = stages.tap, &block = stages.block;
    const int blocks = context.schedule == "columns_or_planes" ? 4 : 1;  // of a task
    Func &out = stages.output;
    out.split(g, gb, g, t.groups, guard)
        .split(gb, gt, gb, blocks, guard)
        .reorder(s, r, c, k, g, gb, gt)
        .unroll(s)
        .unroll(r)
        .partition(gb, Partition::Never)
        .partition(gt, Partition::Never)
        .parallel(gt);
    fold(stages, t, taps, LoopLevel(out, gb));
    stages.sums.compute_at(out, gb)
        .bound_extent(block, 1)
        .bound_extent(lane, t.lanes)
        .bound_extent(tap, taps * t.groups)
        .update()
        .reorder({lane, of.x, of.y, of.z, of.w, of[4]})
        .partition(of.z, Partition::Never)
        .partition(of.w, Partition::Never)
        .partition(of[4], Partition::Never)
        .vectorize(lane)
        .unroll(of.x)
        .unroll(of.y);
    Func &sum = stages.tile_sum;
    sum.compute_at(stages.sums, of.z).bound_extent(lane, t.lanes);
    sum.update()
        .reorder({lane, s, r, pixel.x, pixel.y})
        .partition(pixel.x, context.stride_x > 1 ? Partition::Always : Partition::Never)
        .partition(pixel.y, Partition::Never);
    for (Stage stage : {Stage(sum), Stage(sum.update())}) stage.vectorize(lane).unroll(s).unroll(r);
    for (Func *mask : {&stages.is_column, &stages.is_inside})
        mask->compute_root().vectorize(lane, t.lanes, TailStrategy::RoundUp);
    stages.columns.compute_at(sum, pixel.y)
        .bound_extent(lane, t.lanes)
        .vectorize(lane)
        .unroll(stages.shift);
    stages.input.compute_at(sum, pixel.x)
        .bound_extent(lane, t.lanes * context.stride_x)
        .split(lane, lt, lane, t.lanes)
        .vectorize(lane)
        .unroll(lt)
        .unroll(stages.part);
    if (context.stride_x == 1) return;
    stages.input.unroll(y);
    stages.gradient.compute_at(sum, pixel.x)
        .bound_extent(lane, t.lanes)
        .vectorize(lane)
        .unroll(stages.shift);
}

}  // namespace cpu

}  // namespace hk::schedules
