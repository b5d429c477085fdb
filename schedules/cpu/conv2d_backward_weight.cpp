#include "schedules/conv2d_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// The sums of `c` channels, `g` groups, `k` filters, `s` columns and `r` rows of the filter are in
// registers while a tile of `pixels` pixels passes, `step` of them in a loop of their own.
struct WeightSums {
    int c, g, k, s, r, step;
    int block_c, block_g, block_k;  // of a task
    int pixels;
    int past_ends; int align_k=1, align_c=1;
    int lane = 1;
    int stage;  // 1: input, 2: and gradient
};

WeightSums choose(const Conv2dBackwardWeightContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const int kernel_w = std::max(context.kernel_w, 1), kernel_h = std::max(context.kernel_h, 1);
    (void)kernel_h;
    WeightSums sums = {2 * lanes, 1, 12, 1, 1, 1, 2 * lanes, 1, 48, 128, 1, 1, 1, 1, 2};
    if (context.channels_per_group == 1 && context.filters_per_group == 1)
        sums = {1, lanes, 1, kernel_w, 1, 4, 1, lanes, 1, 256, 1, 1, 1, 1, 1};
    Knobs knobs(context.knobs);
    knobs.take("c", sums.c);
    sums.block_c = std::max(sums.block_c, sums.c);
    knobs.take("g", sums.g);
    sums.block_g = std::max(sums.block_g, sums.g);
    knobs.take("k", sums.k);
    sums.block_k = std::max(sums.block_k, sums.k);
    knobs.take("s", sums.s);
    knobs.take("r", sums.r);
    knobs.take("step", sums.step);
    knobs.take("block_c", sums.block_c);
    knobs.take("block_g", sums.block_g);
    knobs.take("block_k", sums.block_k);
    knobs.take("pixels", sums.pixels);
    knobs.take("align_k", sums.align_k);
    knobs.take("align_c", sums.align_c);
    knobs.take("past_ends", sums.past_ends);
    knobs.take("lanes", sums.lane);
    knobs.take("stage", sums.stage);
    knobs.end();
    return sums;
}

}  // namespace

WeightTiles backward_weight_tiles(const Conv2dBackwardWeightContext &context) {
    const WeightSums sums = choose(context);
    return {sums.pixels, sums.lane, sums.step, !context.nhwc && sums.lane == 1, sums.past_ends != 0};
}

namespace cpu {

void columns(Conv2dBackwardWeight &stages, const Conv2dBackwardWeightContext &context) {
    const WeightSums t = choose(context);
    Func &out = stages.output;
    const Var st("st"), rt("rt");
    const RDom &p = stages.pixel, &of = stages.of;
    out.reorder(s, r, c, k, g).parallel(g);
    out.specialize(context.plain);
    stages.folded.compute_at(out, k);
    stages.sum.compute_at(out, k).vectorize(stages.lane, t.lane, TailStrategy::RoundUp);
    Stage add = stages.sum.update();
    add.split(s, st, s, t.s, guard).split(r, rt, r, t.r, guard)
        .reorder({stages.lane, s, r, st, rt, c, k, g, of.x, of.y, of.z})
        .vectorize(stages.lane, t.lane);
    stages.tile.compute_at(stages.sum, st)
        .bound_extent(s, t.s)
        .bound_extent(r, t.r);
    const auto spread = [&](Stage stage) { stage.vectorize(stages.lane, t.lane).unroll(s).unroll(r); };
    spread(stages.tile);
    Stage update = stages.tile.update();
    update.reorder({stages.lane, s, r, p.x, p.y, p.z});
    spread(update);
    update.unroll(p.x);
    if (t.stage >= 1)
        stages.padded.compute_at(stages.sum, of.x).hoist_storage(out, k).vectorize(x, t.lane, TailStrategy::RoundUp);
    if (t.stage >= 2)
        stages.gradient.compute_at(stages.sum, of.x).hoist_storage(out, k).vectorize(x, t.lane, TailStrategy::RoundUp);
}

void backward_weight(Conv2dBackwardWeight &stages, const Conv2dBackwardWeightContext &context) {
    const WeightSums t = choose(context);
    if (t.lane > 1) return columns(stages, context);
    const int lanes = context.target.natural_vector_size<float>();
    const bool both = t.g > 1 && t.c > 1;
    const bool over_groups = t.g > 1 && !both;
    const Var v = over_groups ? g : c;
    const int width = std::min(lanes, over_groups ? t.g : t.c);
    Func &out = stages.output;
    const Var cb("cb"), kb("kb"), gb("gb"), ct("ct"), kt("kt"), st("st"), rt("rt"), vi("vi"), gt("gt");
    const RDom &p = stages.pixel, &of = stages.of;

    const auto block = [](int block, int sums, const Expr &size) -> Expr {
        return block > sums ? min(block, (size + sums - 1) / sums * sums) : Expr(block);
    };
    out.split(c, cb, c, block(t.block_c, t.c, context.channels), guard)
        .split(k, kb, k, block(t.block_k, t.k, context.filters), guard)
        .split(g, gb, g, block(t.block_g, t.g, context.groups), guard);
    if (over_groups)
        out.reorder(g, c, s, r, k, kb, cb, gb);
    else
        out.reorder(c, s, r, k, g, kb, cb, gb);
    if (!over_groups || true) out.vectorize(v, width, guard);
    out.parallel(gb).parallel(cb).parallel(kb);
    out.specialize(context.plain);

    const auto whole = [&](Func f) -> Func & {
        static Func keep;
        keep = f;
        return keep;
    };
    (void)whole;
    stages.sum.compute_at(out, kb)
        .bound_extent(stages.lane, 1)
        .align_bounds(c, t.c)
        .align_bounds(k, t.k)
        .align_bounds(g, t.g)
        .vectorize(v, width, TailStrategy::RoundUp);
    if (over_groups) stages.sum.reorder_storage(stages.lane, g, c, s, r, k);
    if (both) stages.sum.reorder_storage(stages.lane, c, g, s, r, k).reorder(stages.lane, c, g, s, r, k).vectorize(g, t.g);
    Stage add = stages.sum.update();
    add.split(c, ct, c, t.c, TailStrategy::RoundUp)
        .split(g, gt, g, t.g, TailStrategy::RoundUp)
        .split(k, kt, k, t.k, TailStrategy::RoundUp)
        .split(s, st, s, t.s, guard).split(r, rt, r, t.r, guard);
    if (over_groups)
        add.reorder({g, c, k, s, r, kt, st, rt, ct, gt, of.x, of.y, of.z});
    else
        add.reorder({c, g, k, s, r, kt, st, rt, ct, gt, of.x, of.y, of.z});
    add.vectorize(v, width).unroll(k);
    if (both) add.vectorize(g, t.g);

    stages.tile.compute_at(stages.sum, kt)
        .bound_extent(c, t.c)
        .bound_extent(k, t.k)
        .bound_extent(g, t.g)
        .bound_extent(s, t.s)
        .bound_extent(r, t.r);
    if (over_groups) stages.tile.reorder_storage(stages.lane, g, c, s, r, k);
    if (both) stages.tile.reorder_storage(stages.lane, c, g, s, r, k).reorder(stages.lane, c, g, s, r, k);
    const auto spread = [&](Stage stage) {
        if (both) stage.vectorize(c).vectorize(g); else stage.vectorize(v, width).unroll(v);
        stage.unroll(k).unroll(s).unroll(r);
    };
    spread(stages.tile);
    Stage update = stages.tile.update();
    update.reorder({v, over_groups ? c : g, k, s, r, p.x, p.y, p.z});
    spread(update);
    update.unroll(p.x);

    const auto transpose = [&](TransposedImage &image, Func &user, const Var &v) {
        const Var xb("xb"), vb("vb");
        user.compute_at(stages.sum, of.x).hoist_storage(out, kb)
            .align_bounds(x, 8).align_bounds(v, 8)
            .split(x, xb, x, 8).split(v, vb, v, 8).reorder(v, x, xb, vb, y)
            .vectorize(v).unroll(x);
        image.lines.compute_at(user, y).hoist_storage(out, kb).vectorize(image.lines.args()[0], 8, guard).align_storage(image.lines.args()[0], 8).align_storage(image.lines.args()[1], 8);
        for (Func &step : image.steps)
            step.compute_at(user, xb).vectorize(element, 8).unroll(element).unroll(row);
    };
    if (!stages.input.steps.empty()) {
       if (over_groups) { stages.padded.reorder_storage(g, c, x, y, n); stages.gradient.reorder_storage(g, k, x, y, n); }
       transpose(stages.input, stages.padded, over_groups ? g : c);
       transpose(stages.output_gradient, stages.gradient, over_groups ? g : k);
       return;
    }
    if (t.stage >= 1) {
        stages.padded.compute_at(stages.sum, of.x).hoist_storage(out, kb);
        if (over_groups) stages.padded.reorder_storage(g, c, x, y, n).reorder(g, c, x, y, n);
        if (!over_groups) stages.padded.align_storage(c, t.align_c);
        if (both) stages.padded.vectorize(c).vectorize(g, t.g, TailStrategy::RoundUp);
        else stages.padded.vectorize(v, stages.input.steps.empty() ? width : 8, TailStrategy::RoundUp);
    }
    if (t.stage >= 2) {
        stages.gradient.compute_at(stages.sum, of.x).hoist_storage(out, kb);
        if (over_groups) stages.gradient.reorder_storage(g, k, x, y, n).reorder(g, k, x, y, n).vectorize(g, stages.input.steps.empty() ? width : 8, TailStrategy::RoundUp);
        else if (both) stages.gradient.vectorize(k).vectorize(g, t.g, TailStrategy::RoundUp);
        else stages.gradient.align_storage(k, t.align_k).vectorize(k, stages.input.steps.empty() ? std::min(lanes, t.block_k) : 8, TailStrategy::RoundUp);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
