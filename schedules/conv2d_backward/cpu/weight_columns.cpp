#include "schedules/conv2d_backward/conv2d_backward_weight.h"
#include "schedules/conv2d_backward/copied_rows.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// The sums of a group that are in registers: s columns and r rows of the filter, each of `lanes`
// neighbouring columns of the image. Tiles of `pixels` pixels, of which `rows` rows are side by
// side.
struct ColumnSums {
    int lanes, s, r, rows, pixels;
};

ColumnSums choose(const Conv2dBackwardWeightContext &context) {
    const int w = std::max(context.kernel_w, 1), h = std::max(context.kernel_h, 1);
    ColumnSums sums = {8, w, std::min(h, std::max(28 / w, 1)), 4, 1024};  // 28 of 32 registers
    if (context.stride_y == 2) {
        sums.rows = 2;
        sums.pixels = 512;
    } else if (vector_registers(context.target) < 32) {
        sums.rows = 3;
    }
    Knobs knobs(context.knobs);
    knobs.take("lanes", sums.lanes, {4, 8, 16});
    knobs.take("s", sums.s, steps(1, w));
    knobs.take("r", sums.r, steps(1, h));
    knobs.take("rows", sums.rows, steps(1, 4));
    knobs.take("pixels", sums.pixels, powers(128, 8192));
    knobs.end();
    // Of three columns in twos Halide adds the first up twice.
    knobs.require(w % sums.s == 0, "s divides the filter's width");
    const int lanes = context.target.natural_vector_size<float>();
    knobs.estimate("vector registers", sums.s * sums.r * ((sums.lanes + lanes - 1) / lanes) + 1,
                   vector_registers(context.target));
    return sums;
}

// As many as pay for a task.
Expr groups_of_task(const Conv2dBackwardWeight &stages) {
    constexpr float pixels = 32768;
    const RDom &of = stages.of, &p = stages.pixel;
    const Expr tiles = of.x.extent() * of.y.extent();
    const Expr group =
        cast<float>(p.x.extent() * p.y.extent() * p.z.extent()) * tiles * of.z.extent();
    return cast<int>(clamp(pixels / max(group, 1.f), 1.f, 8.f));
}

}  // namespace

namespace cpu {

WeightTiles tiles_of_columns(const Conv2dBackwardWeightContext &context) {
    const ColumnSums sums = choose(context);
    return {sums.pixels, sums.lanes, sums.rows, false, false};
}

// Depthwise filters over long rows (nchw): vectors of columns, whose sums are added up across the
// lanes once a group. Rows of the gradient are side by side: with four a row of the input is loaded
// once for three rows of a 3x3 filter, 22 loads for 36 multiplications. The gradient is read where
// it is, the input from a copy with zeros around it, which groups of a task have the memory of.
// Eight lanes, for 28, 56 and 112 columns are multiples of that.
//
// Of 16 registers four rows spill: explorer run conv2d_backward_weight
// 56x56_144-144_3x3_depthwise --layout nchw --knobs rows:4 has 0.85 of the speed (Zen 3).
//
// Lost: a copy of the gradient too, with zeros past its ends; rows of zeros that are written whole
// before the columns are; vectors of 16 columns; masked sums instead of loops of their own for what
// is past the end; prefetching the next tile. Below 32 columns vectors of groups are as fast.
void backward_weight_columns(Conv2dBackwardWeight &stages,
                             const Conv2dBackwardWeightContext &context) {
    constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;
    const ColumnSums t = choose(context);
    const RDom &p = stages.pixel, &of = stages.of;
    const Var &lane = stages.lane, st("st"), rt("rt"), gt("gt");
    Func &out = stages.output;
    out.split(g, gt, g, groups_of_task(stages), guard).reorder(s, r, c, k, g, gt).parallel(gt);
    stages.folded.compute_at(out, k);
    stages.sum.compute_at(out, k).vectorize(lane, t.lanes, round_up);
    stages.sum.update()
        .split(s, st, s, t.s, guard)
        .split(r, rt, r, t.r, guard)
        .reorder({lane, s, r, st, rt, c, k, g, of.x, of.y, of.z})
        .vectorize(lane, t.lanes);
    stages.tile_sum.compute_at(stages.sum, st).bound_extent(s, t.s).bound_extent(r, t.r);
    Stage update = stages.tile_sum.update();
    update.reorder({lane, s, r, p.x, p.y, p.z}).unroll(p.x);
    for (Stage stage : {Stage(stages.tile_sum), update})
        stage.vectorize(lane, t.lanes).unroll(s).unroll(r);
    stages.padded.compute_at(stages.sum, of.x).hoist_storage(out, gt);
    copy_rows(stages.padded, stages.rows);
}

}  // namespace cpu

}  // namespace hk::schedules
