#include "generators/ceil_div.h"
#include "schedules/conv2d_backward/conv2d_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// The sums that are in registers while a tile passes: of all taps, of g groups.
struct PeeledSums {
    int g;
    int step;    // columns side by side: they share what they meet of the input
    int pixels;  // of a tile
    int part;    // thousands of products that pay for a part
};

PeeledSums choose(const Conv2dBackwardWeightContext &context) {
    PeeledSums sums = {32, 4, 256, 1024};
    Knobs knobs(context.knobs);
    knobs.take("g", sums.g, {16, 32});
    knobs.take("step", sums.step, steps(1, 8));
    knobs.take("pixels", sums.pixels, powers(8, 4096));
    knobs.take("part", sums.part, powers(1, 65536));
    knobs.end();
    const int lanes = context.target.natural_vector_size<float>();
    if (lanes < 16) sums.g = lanes;  // of 16 registers, which hold one vector's sums
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

}  // namespace

namespace cpu {

PeeledTiles tiles_of_peeled(const Conv2dBackwardWeightContext &context) {
    const PeeledSums sums = choose(context);
    return {sums.pixels, 1024 * sums.part};
}

// Images that caches do not hold are read once, from front to end: a tile's pixels are read by all
// groups before the next tile. Two vectors of groups a pixel are two lines side by side.
//
// explorer run conv2d_backward_weight 112x112_96-96_3x3_s2_depthwise --row depthwise3x3_s2_32, on a
// Xeon of family 6, model 167: 219 us; with --knobs g:16 265 us; tiles of register_tiles, a task a
// vector of groups (--row depthwise3x3_s2), 515 us.
//
// Lost, as fast or slower: selects for the input's rows outside in the place of branches; rows of
// the output side by side; three vectors of groups; zeros around a copy of a tile; prefetching the
// next row.
void backward_weight_peeled(Conv2dBackwardWeightPeeled &stages,
                            const Conv2dBackwardWeightContext &context) {
    constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;
    const PeeledSums t = choose(context);
    const int lanes = std::min(context.target.natural_vector_size<float>(), t.g);
    const Var gt("gt"), gb("gb");
    const RVar step("step");
    Func &out = stages.output, &partial = stages.partial, &tile = stages.tile_sum;
    out.reorder({g, s, r, c, k}).vectorize(g, lanes, round_up).unroll(s).unroll(r);
    stages.sum.compute_at(out, g).vectorize(g, lanes);
    stages.sum.update().reorder({g, s, r, stages.parts}).vectorize(g, lanes);
    partial.compute_root().vectorize(g, lanes, round_up);
    partial.update()
        .split(g, gt, g, t.g, round_up)
        .split(gt, gb, gt, blocks_of_task(stages, ceil_div(context.groups, t.g)), guard)
        .reorder({g, s, r, gt, stages.of, gb, stages.part})
        .vectorize(g, lanes)
        .unroll(g)
        .unroll(s)
        .unroll(r)
        .parallel(gb)
        .parallel(stages.part);
    tile.compute_at(partial, gt).bound_extent(g, t.g);
    stages.gradient.compute_at(tile, stages.interior.x)
        .bound_extent(g, t.g)
        .bound_extent(x, t.step)
        .vectorize(g, lanes)
        .unroll(g)
        .unroll(x);
    Stage left = tile.update(0), right = tile.update(1), interior = tile.update(2);
    left.reorder({g, s, r, stages.left.x, stages.left.y});
    right.reorder({g, s, r, stages.right.x, stages.right.y});
    interior.split(stages.interior.x, stages.interior.x, step, t.step, guard)
        .reorder({g, s, step, r, stages.interior.x, stages.interior.y})
        .unroll(step);
    for (Stage stage : {Stage(tile), left, right, interior})
        stage.vectorize(g, lanes).unroll(g).unroll(s).unroll(r);
}

}  // namespace cpu

}  // namespace hk::schedules
