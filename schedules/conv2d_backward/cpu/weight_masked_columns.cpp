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
    knobs.take("pixels", tiles.pixels, powers(128, 8192));
    knobs.end();
    return tiles;
}

}  // namespace

namespace cpu {

std::optional<ColumnTiles> tiles_of_masked_columns(const Conv2dBackwardWeightContext &context) {
    if (!context.in_f32 || context.target.natural_vector_size<float>() < 16) return std::nullopt;
    return choose(context);
}

void backward_weight_masked_columns(Conv2dBackwardWeightColumns &stages,
                                    const Conv2dBackwardWeightContext &context) {
    constexpr TailStrategy guard = TailStrategy::GuardWithIf;
    const ColumnTiles t = choose(context);
    const int taps = context.kernel_w * context.kernel_h;
    const RDom &pixel = stages.pixel, &of = stages.of;
    const Var &lane = stages.lane, &tap = stages.tap, &block = stages.block;
    const Var gb("gb"), gt("gt"), tt("tt"), lt("lt");
    Func &out = stages.output;
    out.split(g, gb, g, t.groups, guard)
        .split(gb, gt, gb, 2, guard)
        .reorder(s, r, c, k, g, gb, gt)
        .unroll(s)
        .unroll(r)
        .partition(gb, Partition::Never)
        .partition(gt, Partition::Never)
        .parallel(gt);
    stages.folded.compute_at(out, gb)
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
        stages.halves.compute_at(out, gb)
            .bound_extent(block, 1)
            .bound_extent(lane, t.groups)
            .bound_extent(tap, taps * t.groups)
            .vectorize(lane)
            .unroll(tap, t.groups);
    }
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
    stages.is_column.compute_at(sum, pixel.y)
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
