#include "schedules/conv2d_backward/conv2d_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// The sums of a group that are in registers: s columns and r rows of the filter, each of `lanes`
// neighbouring columns of the image. Tiles of `pixels` pixels.
struct ColumnSums {
    int lanes, s, r, pixels;
};

ColumnSums choose(const Conv2dBackwardWeightContext &context) {
    const int w = std::max(context.kernel_w, 1), h = std::max(context.kernel_h, 1);
    ColumnSums sums = {8, w, std::min(h, std::max(28 / w, 1)), 1024};  // 28 of 32 registers
    Knobs knobs(context.knobs);
    knobs.take("lanes", sums.lanes, {4, 8, 16});
    knobs.take("s", sums.s, steps(1, w));
    knobs.take("r", sums.r, steps(1, h));
    knobs.take("pixels", sums.pixels, powers(128, 8192));
    knobs.end();
    // Of three columns in twos Halide adds the first up twice.
    knobs.require(w % sums.s == 0, "s divides the filter's width");
    const int lanes = context.target.natural_vector_size<float>();
    knobs.estimate("vector registers", sums.s * sums.r * ((sums.lanes + lanes - 1) / lanes) + 1,
                   vector_registers(context.target));
    return sums;
}

}  // namespace

namespace cpu {

WeightTiles tiles_of_columns(const Conv2dBackwardWeightContext &context) {
    const ColumnSums sums = choose(context);
    return {sums.pixels, sums.lanes, 1, WeightTiles::Transpose::no, false};
}

// Depthwise filters over long rows (nchw): vectors of columns, whose sums are added up across the
// lanes once a group. Eight lanes, for 28, 56 and 112 columns are multiples of that. 3x3 at 56x56,
// GFLOP/s on one Zen 4 core: 50 with the width known, 37 without (--row depthwise3x3_s1_wide),
// squares transposed to vectors of groups 30 (--row depthwise3x3_s1). All by
// bench --family conv2d_backward_weight --no-peers --layout nchw --list depthwise.
void backward_weight_columns(Conv2dBackwardWeight &stages,
                             const Conv2dBackwardWeightContext &context) {
    constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;
    const ColumnSums t = choose(context);
    const RDom &p = stages.pixel, &of = stages.of;
    const Var &lane = stages.lane, st("st"), rt("rt");
    Func &out = stages.output;
    out.reorder(s, r, c, k, g).parallel(g);
    stages.folded.compute_at(out, k);
    stages.sum.compute_at(out, k).vectorize(lane, t.lanes, round_up);
    stages.sum.update()
        .split(s, st, s, t.s, guard)
        .split(r, rt, r, t.r, guard)
        .reorder({lane, s, r, st, rt, c, k, g, of.x, of.y, of.z})
        .vectorize(lane, t.lanes);
    stages.tile_sum.compute_at(stages.sum, st).bound_extent(s, t.s).bound_extent(r, t.r);
    Stage update = stages.tile_sum.update();
    update.reorder({lane, s, r, p.x, p.y, p.z});
    for (Stage stage : {Stage(stages.tile_sum), update})
        stage.vectorize(lane, t.lanes).unroll(s).unroll(r);
    stages.padded.compute_at(stages.sum, of.x)
        .hoist_storage(out, k)
        .vectorize(x, t.lanes, round_up);
}

}  // namespace cpu

}  // namespace hk::schedules
