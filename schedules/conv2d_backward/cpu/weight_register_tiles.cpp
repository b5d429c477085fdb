#include "schedules/conv2d/transposed_groups.h"
#include "schedules/conv2d_backward/cpu/weight_blocks.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr TailStrategy guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;
const Var cb("cb"), kb("kb"), gb("gb"), ct("ct"), kt("kt"), gt("gt"), st("st"), rt("rt");

// The sums that are in registers while a tile passes: of c channels, g groups, k filters, s columns
// and r rows of the filter.
struct WeightSums {
    int c, g, k, s, r;
    int step;  // pixels side by side: they share what filter columns overlap in
    int block_c, block_g, block_k;  // of a task, whose sums are in memory between tiles
    int pixels;                     // of a tile
    int stage;        // copies first: 1: a tile's input, 2: its gradient too, 3: that alone
    int filters = 0;  // 1: vectors are of filters
    int direct = 0;   // WeightTiles::exact, of multiples of 16 channels (1) or 32 (2); sums of all
                      // channels before the next filters
    int inside = 0;   // 1: WeightTiles::inside
    int whole = 0;    // 1: WeightTiles::whole

    bool copies_input() const { return stage == 1 || stage == 2; }
    int of(const Var &v) const { return v.name() == "c" ? c : v.name() == "g" ? g : k; }
};

bool depthwise(const Conv2dBackwardWeightContext &context) {
    return context.channels_per_group == 1 && context.filters_per_group == 1;
}

// Divisors of what is known, else what networks have.
std::vector<int> parts_of(int known) {
    std::vector<int> parts;
    for (const int part : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64})
        if (known == 0 || known % part == 0) parts.push_back(part);
    return parts;
}

void take_knobs(WeightSums &sums, const Conv2dBackwardWeightContext &context) {
    const std::vector<int> blocks = {1,  2,  3,   4,   6,   8,   12,  16,  24,  32,  48,
                                     64, 96, 128, 160, 192, 256, 384, 512, 768, 1024};
    Knobs knobs(context.knobs);
    knobs.take("c", sums.c, parts_of(context.channels_per_group));
    knobs.take("g", sums.g, powers(1, 64));
    knobs.take("k", sums.k, parts_of(context.filters_per_group));
    knobs.take("s", sums.s, parts_of(std::max(context.kernel_w, 1)));
    knobs.take("r", sums.r, parts_of(std::max(context.kernel_h, 1)));
    knobs.take("step", sums.step, {1, 2, 3, 4, 5, 6, 7, 8, 14, 16});
    knobs.take("block_c", sums.block_c, blocks);
    knobs.take("block_g", sums.block_g, blocks);
    knobs.take("block_k", sums.block_k, blocks);
    knobs.take("pixels", sums.pixels, powers(32, 4096));
    knobs.take("stage", sums.stage, {0, 1, 2, 3});
    knobs.take("filters", sums.filters, {0, 1});
    knobs.take("direct", sums.direct, {0, 1, 2});
    knobs.take("inside", sums.inside, {0, 1});
    knobs.take("whole", sums.whole, {0, 1});
    knobs.end();
}

// Vectors of sums in registers; those of the first dimension, which a second fills up.
struct SumVectors {
    int all, first;
};

SumVectors vectors_of(const WeightSums &sums, int lanes) {
    const int first = sums.filters ? sums.k : sums.c == 1 ? sums.g : sums.c;
    const int second = sums.filters || sums.c == 1 ? sums.c : sums.g;
    const int width = first < lanes && second > 1 ? first * second : first;
    const int vectors = (width + lanes - 1) / lanes;
    return {sums.c * sums.g * sums.k / width * vectors * sums.s * sums.r, vectors};
}

void require_and_estimate(const WeightSums &sums, const Conv2dBackwardWeightContext &context) {
    const int columns = context.width / std::max(context.stride_x, 1);  // 0: any
    Knobs::require(sums.block_c % sums.c == 0, "c divides block_c");
    Knobs::require(sums.block_g % sums.g == 0, "g divides block_g");
    Knobs::require(sums.block_k % sums.k == 0, "k divides block_k");
    Knobs::require(!sums.direct || context.nhwc, "direct is for nhwc");
    // Of a width that is not known, rows with inside:1 may take multiples of 4 columns.
    const int whole_columns = columns > 0 ? columns : sums.inside ? 4 : 1;
    Knobs::require(!sums.direct || whole_columns % sums.step == 0,
                   "with direct step divides the output's columns");
    Knobs::require(sums.direct || sums.stage < 3, "stage:3 is direct");
    // Nothing is read or written past the ends, and rows with direct:1 take multiples of 16
    // channels and filters, with direct:2 of 32 channels, or depthwise ones of 16 or 32 groups.
    Knobs::require(!sums.direct || (16 * sums.direct % sums.c == 0 && 16 % sums.k == 0),
                   "with direct:1 c and k divide 16, with direct:2 c divides 32");
    Knobs::require(!sums.direct || sums.g == 1 || (sums.c > 1 && sums.c * sums.g <= 16) ||
                       (sums.c * sums.k == 1 && 32 % sums.g == 0),
                   "with direct g is 1, or fills 16 lanes, or of depthwise filters divides 32");
    const auto fits = [](int block, int known) { return block >= known || known % block == 0; };
    Knobs::require(sums.direct || sums.stage > 0 ||
                       (context.channels_per_group > 0 && context.filters_per_group > 0 &&
                        fits(sums.block_c, context.channels_per_group) &&
                        fits(sums.block_k, context.filters_per_group) && sums.block_g == sums.g),
                   "with stage:0, which reads what is past the last block, blocks are full");
    Knobs::require(!sums.whole || sums.direct, "whole:1 is direct");
    Knobs::require(context.nhwc || (depthwise(context) && sums.g >= 4 && sums.g <= 32 &&
                                    sums.block_g == sums.g),
                   "nchw is of depthwise filters, whose g is block_g, 4 to 32");
    Knobs::require(!sums.inside || (sums.direct && context.kernel_w == 1 && context.kernel_h == 1),
                   "inside:1 is direct and has a 1x1 filter");
    const int lanes = context.target.natural_vector_size<float>();
    const SumVectors vectors = vectors_of(sums, lanes);
    Knobs::estimate("vector registers", vectors.all + vectors.first + 1,
                    vector_registers(context.target));
}

// Of 16 registers 12 are for sums, of which two multipliers of a latency of four need 8. Filters in
// vectors are one vector, a line of each pixel: of four, whose pixels meet in a few sets of the
// first cache, explorer run conv2d_backward_weight 224x224_3-64_7x7_s2 --knobs
// filters:1,c:3,k:32,s:1,block_k:64,block_c:3,stage:1 has 0.71 of the speed (Zen 3).
void fit_few_registers(WeightSums &sums, const Conv2dBackwardWeightContext &context) {
    constexpr int most = 12;
    const int lanes = context.target.natural_vector_size<float>();
    if (depthwise(context)) {
        sums.g = std::min(sums.g, lanes);
        return;
    }
    if (sums.direct && sums.c > 1) sums.g = 1;
    const auto many = [&] { return vectors_of(sums, lanes).all > most; };
    while (many() && sums.filters && !sums.direct && sums.k > lanes) sums.k /= 2;
    int &broadcast = sums.filters ? sums.c : sums.k;
    while (many() && broadcast > 2 && broadcast % 2 == 0) broadcast /= 2;
    if (many()) sums.s = 1;
}

// Vectors are of channels of a group; of groups of one channel; of both, where a few groups of few
// channels fill one; of filters, where there are three channels and one group. Sums of AVX-512's 32
// registers, and loads for as many multiplications:
//   dense       2 vectors of channels * 8 filters: 10 loads for 16; 1 * 16: 17 for 16
//   grouped     1 or 2 vectors * 4 or 8 filters * 3 columns: 10 or 11 loads for 24
//   4 a group   1 vector of four groups * 4 filters * 3 columns: 4 loads, 4 shuffles for 12
//   depthwise   the columns of a row (3x3: of all rows), 7 pixels: 5x5 18 loads for 35
WeightSums choose(const Conv2dBackwardWeightContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const bool many_registers = lanes >= 16;
    const int channels = context.channels_per_group, filters = context.filters_per_group;
    const int s = std::max(context.kernel_w, 1), stage = context.in_f32 ? 1 : 2;
    WeightSums sums = {2 * lanes, 1, many_registers ? 8 : 4, 1, 1, 1, 128, 1, 256, 256, 2};
    if (depthwise(context)) {
        sums = {1, lanes, 1, s, s == 3 ? 3 : 1, 7, 1, 1, 1, 256, stage};
    } else if (channels > 0 && channels < 8 && filters == channels) {
        sums = {channels, std::max(lanes / channels, 1), channels, s, 1, 1, 1, 1, 1, 128, stage};
    } else if (channels > 0 && channels <= 2 * lanes && filters == channels) {
        const int k = channels == lanes && many_registers ? 8 : 4;
        sums = {channels, 1, k, s, 1, 1, 1, std::max(64 / channels, 1), filters, 256, stage};
    }
    take_knobs(sums, context);
    // Rows name what fits AVX-512; 4 divides what they do. Of 16 registers what copies one image
    // copies both.
    if (sums.direct == 2 && (!many_registers || one_multiply_add(context.target))) {
        sums.c = sums.k = 16;
        sums.stage = many_registers ? sums.copies_input() : sums.stage > 0 ? 2 : 0;
    }
    if (!many_registers) fit_few_registers(sums, context);
    sums.block_c = std::max(sums.block_c, sums.c);
    sums.block_g = std::max(sums.block_g, sums.g);
    sums.block_k = std::max(sums.block_k, sums.k);
    require_and_estimate(sums, context);
    return sums;
}

// Tasks are blocks of channels, filters and groups. A task goes over all tiles of pixels; it copies
// a tile's operands with zeros around them, vectors next to each other, and for each block of sums
// that fits the registers runs over the tile. What is then added to memory is a sum of some hundred
// products: seldom enough to cost little, and often enough to keep the digits.
//
// Rows with `direct` copy no more channels than they need. Their sums are of two vectors of
// channels and 8 filters, for two multipliers, where channels fill them; else, and on cores of one,
// of one vector and 16 filters, a line of the cache. Eight filters of pixels a power of two apart
// meet in a few sets of the first cache, where all channels read them again: for two multipliers
// the gradient is copied, its rows a vector longer. Where all pixels are a tile (`whole`), there
// are no sums in memory, which cost as much as the products of 49 pixels.
//
// bench --family conv2d_backward_weight --no-peers, GFLOP/s on one Zen 4 core of 118: direct ones
// 3x3 102 to 113, 1x1 101 to 114 (--list resnet50 --filter 7x7_2048: 108, of two vectors 96);
// others: 8 channels a group 92; 4 channels a group 67; depthwise 5x5 76 to 81, 7x7 89 to 93.
//
// Lost, by knobs: three columns of the filter at once in dense ones (s:3,k:4, 90 of 96 at 14x14);
// blocks of 64 filters where the gradient is copied (block_k:64); sums of 24 filters (k:24) but of
// one vector; all rows of a 5x5 filter at once (r:5).
class Schedule {
public:
    Schedule(Conv2dBackwardWeight &stages, const Conv2dBackwardWeightContext &context)
        : stages_(stages),
          context_(context),
          t_(choose(context)),
          lanes_(context.target.natural_vector_size<float>()),
          transposes_groups_(!context.nhwc) {
        if (t_.filters)
            dims_ = {k, c, g};
        else if (t_.c == 1)
            dims_ = {g, c, k};
        else
            dims_ = {c, g, k};
    }

    bool whole() const { return t_.whole; }
    void whole_tasks() const;
    void tasks() const;
    void sums() const;
    void stage() const;

private:
    // Vectors of the first dimension, and of the second where that fills them.
    void vectorize(Stage stage, TailStrategy tail) const {
        const int first = t_.of(dims_[0]), second = t_.of(dims_[1]);
        stage.vectorize(dims_[0], std::min(lanes_, first), tail);
        if (first < lanes_ && second > 1) stage.vectorize(dims_[1], second, tail);
    }
    std::vector<VarOrRVar> inside(const std::vector<VarOrRVar> &around) const {
        std::vector<VarOrRVar> order(dims_.begin(), dims_.end());
        order.insert(order.end(), {s, r});
        order.insert(order.end(), around.begin(), around.end());
        return order;
    }
    int taps() const { return std::max(context_.kernel_w, 1) * std::max(context_.kernel_h, 1); }
    Expr parts() const;
    void registers(Func consumer, const Var &at) const;
    void copy(Func copied, const Var &channel) const;

    Conv2dBackwardWeight &stages_;
    const Conv2dBackwardWeightContext &context_;
    const WeightSums t_;
    const int lanes_;
    const bool transposes_groups_;  // of nchw
    std::vector<Var> dims_;         // c, g and k, vectors first
};

Expr Schedule::parts() const {
    const RDom &of = stages_.of, &p = stages_.pixel;
    return cpu::parts_that_pay(context_, of.x.extent() * of.y.extent() * of.z.extent() *
                                             p.x.extent() * p.y.extent() * p.z.extent() *
                                             p.w.extent());
}

// Filters, channels and groups in blocks, each from the first tile to the last. What may be added
// to is read in any case, a line that the store needs as well: lost, as fast and twice the code,
// all loops once more for `plain`.
void Schedule::tasks() const {
    const Expr parts = this->parts();
    // What a task copies of the pixels pays for so many channels and filters.
    const int least = std::max((t_.direct ? 2 : 4) * lanes_ / taps(), lanes_);
    const Expr of_k = cpu::block_of(context_.filters, t_.block_k, t_.k, least, parts);
    const Expr of_c = cpu::block_of(context_.channels, t_.block_c, t_.c, t_.filters ? t_.c : least,
                                    max(parts / ceil_div(context_.filters, of_k), 1));
    Func &out = stages_.output;
    out.split(c, cb, c, of_c, guard)
        .split(k, kb, k, of_k, guard)
        .split(g, gb, g, cpu::block_of(context_.groups, t_.block_g, t_.g, t_.g, 1), guard)
        .reorder({dims_[0], dims_[1], s, r, dims_[2], kb, cb, gb});
    if (transposes_groups_)
        out.split(gb, gt, gb, kBlocksOfTask, guard).parallel(gt);
    else
        out.parallel(gb).parallel(cb).parallel(kb);
    vectorize(out, guard);
}

// The same, of sums that go from registers to the output.
void Schedule::whole_tasks() const {
    Func &out = stages_.output;
    out.split(c, ct, c, t_.c, round_up)
        .split(k, kt, k, t_.k, round_up)
        .split(g, gt, g, t_.g, round_up)
        .split(s, st, s, t_.s, guard)
        .split(r, rt, r, t_.r, guard)
        .split(ct, cb, ct, t_.block_c / t_.c, guard)
        .split(kt, kb, kt, t_.block_k / t_.k, guard)
        .split(gt, gb, gt, t_.block_g / t_.g, guard)
        .reorder(inside({ct, st, rt, kt, gt, kb, cb, gb}))
        .parallel(gb)
        .parallel(cb)
        .parallel(kb)
        .unroll(k);
    vectorize(out, TailStrategy::Auto);
    if (t_.c == 1) {
        out.unroll(s).unroll(r);
        out.specialize(context_.plain && context_.packed);
    }
    out.specialize(context_.plain);
    registers(out, ct);
}

void Schedule::sums() const {
    const RDom &of = stages_.of;
    const std::vector<Var> storage = {stages_.lane, dims_[0], dims_[1], s, r, dims_[2]};
    Func &sum = stages_.sum;
    sum.compute_at(stages_.output, kb)
        .bound_extent(stages_.lane, 1)
        .align_bounds(c, t_.c)
        .align_bounds(k, t_.k)
        .align_bounds(g, t_.g)
        .reorder_storage(storage)
        .reorder(inside({}));
    vectorize(sum, round_up);
    Stage add = sum.update();
    add.split(c, ct, c, t_.c, round_up)
        .split(g, gt, g, t_.g, round_up)
        .split(k, kt, k, t_.k, round_up)
        .split(s, st, s, t_.s, guard)
        .split(r, rt, r, t_.r, guard)
        .reorder(t_.direct ? inside({ct, st, rt, kt, gt, of.x, of.y, of.z})
                           : inside({kt, st, rt, ct, gt, of.x, of.y, of.z}))
        .unroll(k);
    vectorize(add, TailStrategy::Auto);
    registers(sum, t_.direct ? ct : kt);
}

void Schedule::registers(Func consumer, const Var &at) const {
    const RDom &p = stages_.pixel;
    const std::vector<Var> storage = {stages_.lane, dims_[0], dims_[1], s, r, dims_[2]};
    Func &tile = stages_.tile_sum;
    tile.compute_at(consumer, at).reorder_storage(storage).reorder(inside({}));
    const std::pair<Var, int> extents[] = {{c, t_.c}, {g, t_.g}, {k, t_.k}, {s, t_.s}, {r, t_.r}};
    for (const auto &[v, extent] : extents) tile.bound_extent(v, extent);
    Stage update = tile.update();
    update.reorder(inside({p.x, p.y, p.z, p.w})).unroll(p.x);
    for (Stage stage : {Stage(tile), update}) {
        vectorize(stage, TailStrategy::Auto);
        for (const Var &v : {c, g, k, s, r}) stage.unroll(v);
    }
}

// A tile's copy of an image, with the neighbours that vectors are of next to each other.
void Schedule::copy(Func copied, const Var &channel) const {
    const bool groups = dims_[0].name() == "g";
    const Var first = groups ? g : channel, second = groups ? channel : g;
    if (t_.whole)
        copied.compute_at(stages_.output, channel.name() == "c" ? cb : kb);
    else
        copied.compute_at(stages_.sum, stages_.of.x).hoist_storage(stages_.output, kb);
    copied.reorder_storage(first, second, x, y, n).reorder(first, second, x, y, n);
    const int size = channel.name() == "c" ? t_.c : t_.block_k;
    copied.vectorize(first, std::min(lanes_, groups ? t_.g : size), round_up);
    const int together = std::min(t_.block_g, lanes_ / size);
    if (!groups && together > 1) copied.vectorize(g, together, round_up);
}

void Schedule::stage() const {
    if (transposes_groups_) {
        for (auto [image, tiles] : {std::tie(stages_.padded, stages_.input_tiles),
                                    std::tie(stages_.gradient, stages_.gradient_tiles)}) {
            image.compute_at(stages_.sum, stages_.of.x)
                .hoist_storage(stages_.output, gt)
                .reorder_storage(g, x, y, c, n);
            transpose_groups(image, tiles);
        }
        return;
    }
    if (t_.copies_input()) copy(stages_.padded, c);
    if (t_.stage >= 2) copy(stages_.gradient, k);
    // Rows of the copy a power of two apart would meet in a few sets of the cache.
    if (t_.stage >= 2 && t_.block_k > 2 * lanes_)
        stages_.gradient.align_storage(k, t_.block_k + lanes_);
    if (t_.copies_input() && !t_.filters && t_.block_c > 4 * lanes_ && lanes_ < 16)  // of AVX2
        stages_.padded.align_storage(c, t_.block_c + 16);
}

}  // namespace

namespace cpu {

WeightTiles tiles_in_registers(const Conv2dBackwardWeightContext &context) {
    const WeightSums sums = choose(context);
    return {.pixels = sums.pixels,
            .lanes = 1,
            .step = sums.step,
            .transposed = !context.nhwc,
            .past_ends = sums.copies_input(),
            .exact = sums.direct > 0,
            .inside = sums.inside > 0,
            .whole = sums.whole > 0,
            .groups = sums.g};
}

void backward_weight_register_tiles(Conv2dBackwardWeight &stages,
                                    const Conv2dBackwardWeightContext &context) {
    const Schedule schedule(stages, context);
    if (schedule.whole()) {
        schedule.whole_tasks();
    } else {
        schedule.tasks();
        schedule.sums();
    }
    schedule.stage();
}

}  // namespace cpu

}  // namespace hk::schedules
