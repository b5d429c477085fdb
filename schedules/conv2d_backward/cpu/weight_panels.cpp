#include "generators/ceil_div.h"
#include "schedules/conv2d_backward/cpu/weight_blocks.h"
#include "schedules/transpose.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;

// The sums that are in registers while a tile passes, of v places in vectors and u others.
struct PanelSums {
    int v, u;
    int block_v, block_u;  // of a task
    int pixels;            // of a tile
    int whole = 0;         // 1: PlaneTiles::whole
    int filters = 0;       // 1: vectors are of filters
};

PanelSums choose(const Conv2dBackwardWeightContext &context) {
    PanelSums sums = {32, 8, 256, 256, 256};
    Knobs knobs(context.knobs);
    knobs.take("v", sums.v, {16, 32});
    knobs.take("u", sums.u, powers(1, 8));
    knobs.take("block_v", sums.block_v, powers(32, 4096));
    knobs.take("block_u", sums.block_u, powers(32, 4096));
    knobs.take("pixels", sums.pixels, powers(16, 1024));
    knobs.take("whole", sums.whole, {0, 1});
    knobs.take("filters", sums.filters, {0, 1});
    knobs.end();
    knobs.require(!sums.whole || !sums.filters, "whole:1 has vectors of channels");
    const int lanes = context.target.natural_vector_size<float>();
    if (lanes < 16) {
        sums.v = 16;  // what divides the rows' blocks
        while (sums.u > (lanes == 8 ? 4 : 2) && sums.u % 2 == 0) sums.u /= 2;
    }
    const int vectors = sums.v / lanes;
    knobs.estimate("vector registers", vectors * (sums.u + 1) + 1,
                   vector_registers(context.target));
    return sums;
}

// Tasks are blocks of vectors and of others, each from the first tile of pixels to the last. A task
// copies a tile's vectors to panels, 16 places of 16 pixels at a time: 64 shuffles, a quarter of an
// instruction an element, each of which meets a vector of every 16 others. So those are transposed
// of which there are fewer. The others are broadcast from where they are, lines of pixels of eight
// planes. A tile's sums are two vectors by 8 others, 10 loads for 16 multiplications, or one by 8,
// 9 for 8; memory has those of a task.
//
// bench --family conv2d_backward_weight --layout nchw --list resnet50 --filter 1x1, GFLOP/s on one
// Zen 4 core of 118: 56x56_64-256 109 (by copies in nhwc, --row 1x1_32, 79), 14x14_256-1024 113
// (--row 1x1_32_copied 101), 7x7_2048-512 105 (100).
//
// Lost: a copy of what is broadcast, rows of a fixed length apart, 0.82 to 0.98 of the speed
// (explorer run conv2d_backward_weight input=1x64x64x128,weight=128x1x1x128 --layout nchw);
// prefetching what is read next; turns of 2, 4 or 8 pixels; transposing 4 pixels at a time, as fast
// but for planes that are a power of two long; one vector by 16.
class Schedule {
public:
    Schedule(Conv2dBackwardWeightPlanes &stages, const Conv2dBackwardWeightContext &context)
        : stages_(stages),
          context_(context),
          t_(choose(context)),
          lanes_(context.target.natural_vector_size<float>()),
          v_(t_.filters ? k : c),
          u_(t_.filters ? c : k) {}

    void apply() const;

private:
    void divide(int of_v, int of_u) const;
    void whole_tasks() const;
    void tasks() const;
    void sums(const LoopLevel &task) const;
    void registers(const LoopLevel &at) const;
    void transpose_panel(const LoopLevel &at, const LoopLevel &task) const;
    void vectorize(Stage stage, const Var &var) const { stage.vectorize(var, lanes_).unroll(var); }
    Expr pixels() const {
        const RDom &of = stages_.of, &p = stages_.pixel;
        const Expr of_tile = p.x.extent() * p.y.extent();
        return t_.whole ? of_tile : of_tile * of.x.extent() * of.y.extent();
    }

    Conv2dBackwardWeightPlanes &stages_;
    const Conv2dBackwardWeightContext &context_;
    const PanelSums t_;
    const int lanes_;
    const Var v_, u_, vt_{"vt"}, ut_{"ut"}, vb_{"vb"}, ub_{"ub"};
};

void Schedule::apply() const {
    const Func &out = stages_.output;
    const LoopLevel task(out, ub_);
    if (t_.whole) {
        whole_tasks();
        registers(LoopLevel(out, vt_));
        transpose_panel(task, task);
        return;
    }
    tasks();
    sums(task);
    registers(LoopLevel(stages_.sum, stages_.vb));
    transpose_panel(LoopLevel(stages_.sum, stages_.of.x), task);
}

// Blocks of so many vectors' and other places, of which what is copied is worth a task, in outputs
// that are written `of_v` and `of_u` at once.
void Schedule::divide(int of_v, int of_u) const {
    const Expr parts = cpu::parts_that_pay(context_, pixels());
    const Expr all_v = t_.filters ? context_.filters : context_.channels;
    const Expr all_u = t_.filters ? context_.channels : context_.filters;
    const int least = 2 * lanes_;
    const Expr block_u = cpu::block_of(all_u, t_.block_u, kPlaneBack, least, parts);
    const Expr block_v =
        cpu::block_of(all_v, t_.block_v, t_.v, least, max(parts / ceil_div(all_u, block_u), 1));
    stages_.output.split(v_, vt_, v_, of_v, round_up)
        .split(u_, ut_, u_, of_u, round_up)
        .split(vt_, vb_, vt_, block_v / of_v, guard)
        .split(ut_, ub_, ut_, block_u / of_u, guard)
        .reorder(v_, u_, s, r, vt_, ut_, ub_, vb_, g)
        .parallel(g)
        .parallel(vb_)
        .parallel(ub_);
}

void Schedule::whole_tasks() const {
    divide(t_.v, t_.u);
    vectorize(stages_.output.unroll(u_), v_);
    stages_.output.specialize(context_.plain);
}

void Schedule::tasks() const {
    Func &out = stages_.output;
    if (!t_.filters) {
        divide(t_.v, t_.u);
        vectorize(out, v_);
        return;
    }
    divide(kPlaneBack, kPlaneBack);
    out.reorder(u_, v_, s, r, vt_, ut_).vectorize(u_).unroll(v_);
    transpose_at(LoopLevel(out, vt_), stages_.back, {kPlaneBack, kPlaneBack},
                 arguments_of_tiles(stages_.back));
}

void Schedule::sums(const LoopLevel &task) const {
    const RDom &of = stages_.of;
    Func &sum = stages_.sum;
    const Var &v = stages_.v, &u = stages_.u;
    sum.compute_at(task).bound_extent(v, t_.v).align_bounds(u, t_.u);
    vectorize(sum, v);
    sum.update()
        .split(u, ut_, u, t_.u, round_up)
        .reorder(v, u, stages_.vb, ut_, of.x, of.y, g)
        .unroll(u);
    vectorize(sum.update(), v);
}

void Schedule::registers(const LoopLevel &at) const {
    const Var &v = stages_.v, &u = stages_.u;
    const RDom &p = stages_.pixel;
    Func &tile = stages_.tile_sum;
    tile.compute_at(at).bound_extent(v, t_.v).bound_extent(u, t_.u).unroll(u);
    vectorize(tile, v);
    tile.update().reorder(v, u, p.x, p.y).unroll(u);
    vectorize(tile.update(), v);
}

void Schedule::transpose_panel(const LoopLevel &at, const LoopLevel &task) const {
    const RDom &run = stages_.run;
    const Var &v = stages_.v, &vb = stages_.vb, h("h");
    Func &panel = stages_.panel;
    panel.hoist_storage(task)
        .compute_at(at)
        .bound_extent(v, t_.v)
        .reorder_storage(v, q, vb)
        .update()
        .split(v, h, v, kPlaneVector, round_up)
        .reorder({v, run.x, run.y, run.z, h, vb})
        .vectorize(v)
        .unroll(run.x);
    if (!t_.whole) panel.bound_storage(q, t_.pixels + kPlaneVector);
    transpose_at(LoopLevel(panel, run.y), stages_.there, {kPlaneVector, kPlaneVector},
                 arguments_of_tiles(stages_.there));
}

}  // namespace

namespace cpu {

PlaneTiles tiles_of_panels(const Conv2dBackwardWeightContext &context) {
    const PanelSums sums = choose(context);
    return {.pixels = sums.pixels,
            .vectors = sums.v,
            .whole = sums.whole > 0,
            .of_filters = sums.filters > 0};
}

void backward_weight_panels(Conv2dBackwardWeightPlanes &stages,
                            const Conv2dBackwardWeightContext &context) {
    Schedule(stages, context).apply();
}

}  // namespace cpu

}  // namespace hk::schedules
