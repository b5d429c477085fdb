#include "generators/ceil_div.h"
#include "schedules/conv2d_backward/cpu/weight_blocks.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;

struct PackedSums {
    int c, k;              // of a panel: channels in vectors, filters
    int block_c, block_k;  // of a task, whose sums are in memory between tiles
    int pixels;            // of a tile
    int whole = 0;         // 1: WeightPanels::whole
    int stage = 2;         // copies first: 1: the input, 2: the gradient too
};

// Sums fill the registers but for those of a panel's channels and of one filter: of 16, two vectors
// by 6.
PackedSums choose(const Conv2dBackwardWeightContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    PackedSums sums = {2 * lanes, lanes >= 16 ? 12 : 6, 512, 192, 256};
    Knobs knobs(context.knobs);
    knobs.take("c", sums.c, {8, 16, 32});
    knobs.take("k", sums.k, steps(1, 12));
    knobs.take("block_c", sums.block_c, powers(32, 1024));
    knobs.take("block_k", sums.block_k, {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024});
    knobs.take("pixels", sums.pixels, powers(32, 1024));
    knobs.take("whole", sums.whole, {0, 1});
    knobs.take("stage", sums.stage, {1, 2});
    knobs.end();
    sums.block_k = std::max(sums.block_k / sums.k, 1) * sums.k;
    knobs.estimate("vector registers", std::max(sums.c / lanes, 1) * (sums.k + 1) + 1,
                   vector_registers(context.target));
    return sums;
}

// Tasks are blocks of channels and filters, each from the first tile to the last. A tile's gradient
// is copied once, in panels of some filters; its input a panel of channels at a time, into the
// first cache, over which all filters pass. So no vectors are read whose pixels are a power of two
// apart, and of each pixel the second cache gives a vector of filters for 12 multiply-adds, where
// rows that pass all channels for each four filters take two of channels for 8. Copies of the
// gradient take as long as they save where few channels meet them (stage:1).
//
// Sums are written at the end, a row of the filter after the other, without a case for what is not
// added to, as in weight_register_tiles.cpp.
//
// bench --family conv2d_backward_weight --list resnet50 --filter CASE --row ROW --no-peers, GFLOP/s
// of 104 on Zen 3, the best of four runs, and by the row that has this one's place with AVX-512:
// 28x28_512-128_1x1 71 (1x1_32 49), 28x28_128-128_3x3 83 (direct_32 70), 14x14_1024-512_1x1 80
// (1x1_32_copied 41), 56x56_64-64_1x1 61 (1x1_32 66).
//
// Lost, by knobs: panels of 4 and 5 filters, blocks of 256 channels, tiles of 64 and 128 pixels,
// all somewhat slower. Lost: a tile's input copied whole, four panels of filters copied at once, as
// fast; sums from registers to the filter, which few pixels (7x7) take longer for.
class Schedule {
public:
    Schedule(Conv2dBackwardWeightPanels &stages, const Conv2dBackwardWeightContext &context)
        : stages_(stages),
          context_(context),
          t_(choose(context)),
          lanes_(std::min(context.target.natural_vector_size<float>(), t_.c)) {}

    void apply() const;

private:
    void tasks() const;
    void sums() const;
    void registers() const;
    void copies() const;

    Conv2dBackwardWeightPanels &stages_;
    const Conv2dBackwardWeightContext &context_;
    const PackedSums t_;
    const int lanes_;
    const Var ct_{"ct"}, kt_{"kt"}, cb_{"cb"}, kb_{"kb"};
};

void Schedule::apply() const {
    tasks();
    sums();
    registers();
    copies();
}

void Schedule::tasks() const {
    const RDom &of = stages_.of, &p = stages_.pixel;
    Expr pixels = p.x.extent() * p.y.extent() * p.z.extent();
    if (!t_.whole) pixels *= of.x.extent() * of.y.extent() * of.z.extent();
    const Expr parts = cpu::parts_that_pay(context_, pixels);
    const int least = 2 * lanes_;
    const auto equal = [&](const Expr &size, int most, int sums, const Expr &parts) {
        return cpu::block_of(size, most, sums, least, max(parts, ceil_div(size, most)));
    };
    const Expr of_k = equal(context_.filters, t_.block_k, t_.k, parts);
    const Expr of_c = equal(context_.channels, t_.block_c, t_.c,
                            max(parts / ceil_div(context_.filters, of_k), 1));
    Func &out = stages_.output;
    out.split(c, ct_, c, t_.c, guard)
        .split(k, kt_, k, t_.k, guard)
        .split(ct_, cb_, ct_, of_c / t_.c, guard)
        .split(kt_, kb_, kt_, of_k / t_.k, guard)
        .reorder({c, ct_, s, r, k, kt_, kb_, cb_, g})
        .parallel(g)
        .parallel(cb_)
        .parallel(kb_)
        .vectorize(c, lanes_, guard)
        .unroll(c);
}

void Schedule::sums() const {
    const RDom &of = stages_.of;
    Func &sum = stages_.sum;
    const Var &v = stages_.v, &u = stages_.u;
    sum.compute_at(stages_.output, kb_)
        .bound_extent(v, t_.c)
        .bound_extent(u, t_.k)
        .vectorize(v, lanes_);
    const std::vector<VarOrRVar> order = {v, u, s, r, stages_.ub, stages_.vb, g};
    if (t_.whole) {
        sum.reorder(order).unroll(u).unroll(v);
        return;
    }
    std::vector<VarOrRVar> of_tiles = order;
    of_tiles.insert(of_tiles.end(), {of.x, of.y, of.z});
    sum.update().reorder(of_tiles).vectorize(v, lanes_).unroll(u).unroll(v);
}

void Schedule::registers() const {
    const Var &v = stages_.v, &u = stages_.u;
    const RDom &p = stages_.pixel;
    Func &tile = stages_.tile_sum;
    tile.compute_at(stages_.sum, s).bound_extent(v, t_.c).bound_extent(u, t_.k);
    Stage add = tile.update();
    add.reorder(v, u, p.x, p.y, p.z);
    for (Stage stage : {Stage(tile), add}) stage.vectorize(v, lanes_).unroll(v).unroll(u);
}

void Schedule::copies() const {
    const LoopLevel task(stages_.output, kb_);
    stages_.input_panel.hoist_storage(task)
        .compute_at(stages_.sum, stages_.vb)
        .bound_extent(stages_.v, t_.c)
        .vectorize(stages_.v, lanes_)
        .unroll(stages_.v);
    if (t_.stage < 2) return;
    stages_.gradient_panel.hoist_storage(task)
        .compute_at(t_.whole ? task : LoopLevel(stages_.sum, stages_.of.x))
        .vectorize(stages_.u, lanes_, round_up);
}

}  // namespace

namespace cpu {

WeightPanels tiles_of_packed(const Conv2dBackwardWeightContext &context) {
    const PackedSums sums = choose(context);
    return {.channels = sums.c, .filters = sums.k, .pixels = sums.pixels, .whole = sums.whole > 0};
}

void backward_weight_packed(Conv2dBackwardWeightPanels &stages,
                            const Conv2dBackwardWeightContext &context) {
    Schedule(stages, context).apply();
}

}  // namespace cpu

}  // namespace hk::schedules
