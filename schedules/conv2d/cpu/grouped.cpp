#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct GroupedTile {
    int x, y;    // pixels
    int depth;   // channels of the sum in a block of code
    int across;  // groups that share a vector
    int groups;  // of a task, whose input is copied together
};

// 8 channels by 3 columns by 14 sums of 16 lanes as one block of code take LLVM 60 s, 4 take 0.5 s.
constexpr int kMostInABlock = 64;

GroupedTile choose(const Conv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const int filters = context.filters_per_group;
    const int most = std::max(kFilterBlock / filters, 1);
    GroupedTile tile = {7, 1, filters > 8 ? 2 : filters, most, most};
    Knobs knobs(context.knobs);
    knobs.take("tile_x", tile.x, steps(1, 16));
    knobs.take("tile_y", tile.y, steps(1, 4));
    if (context.pairs) tile.depth /= 2;
    knobs.take("depth", tile.depth, {1, 2, 4, 8});
    knobs.take("across", tile.across, {1, 2, 4});
    knobs.take("groups", tile.groups, {1, 2, 4});
    knobs.end();
    knobs.require(tile.x * tile.y * tile.depth <= kMostInABlock,
                  "tile_x * tile_y * depth is at most " + std::to_string(kMostInABlock));
    knobs.require(filters % tile.depth == 0, "depth divides the channels of a group");
    knobs.require(tile.groups <= most, "groups is at most " + std::to_string(most));
    knobs.require(tile.groups % tile.across == 0, "groups is a multiple of across");
    const int width = tile.across * filters;
    const int vectors = (width + lanes - 1) / lanes;
    // Rows name what fits AVX-512.
    if (lanes < kFilterBlock) tile.y = 1, tile.x = std::max(std::min(tile.x, 8 / vectors), 1);
    knobs.estimate("vector registers", vectors * (tile.x * tile.y + std::max(context.kernel_w, 1)),
                   vector_registers(context.target));
    return tile;
}

// Of whole vectors the filter of a gradient is read where it is. Of 8 channels, which are shuffled
// for two groups, it is slower so.
bool lies_in_vectors(const Conv2dContext &context) {
    return context.filters_inner && context.filter.defined() &&
           context.filter.type() == Float(32) && context.filters_per_group % kFilterBlock == 0;
}

}  // namespace

namespace cpu {

PackedSum grouped_sum(const Conv2dContext &context) {
    return {context.filters_per_group, choose(context).y == 1, Padding::compared, false,
            context.pairs ? Pairs::stored : Pairs::none};
}

// A vector is the output channels of one group, or of several neighbouring groups (`across`) where
// a group has fewer than lanes. The multiplicand is each group's channel c spread over its lanes: a
// shuffle, shared by the three columns of a 3x3 filter because d.y is unrolled inside d.x. AVX-512,
// 4 or 8 channels a group: 7 sums, 3 vectors of the filter, 9 spread inputs of 32 registers. With
// stride 2 only every second spread input is shared, and the shuffles take longer than the
// multiplications: there a vector of half the width, of one group, is multiplied with broadcasts
// from memory (8 channels a group: explorer run, 56x56, 1.2 times as fast), and a task copies the
// input of as many groups as fill a vector.
//
// Lost: two rows of pixels a tile at 8 channels, shuffles inside the columns, prefetching the next
// rows' input.
void grouped(Conv2d &stages, const Conv2dContext &context) {
    const GroupedTile tile = choose(context);
    const int filters = context.filters_per_group, lanes = std::min(filters, kFilterBlock);
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), gb("gb"), gt("gt"), gv("gv"), rows("rows");
    const int blocks = blocks_of_lines(tile.groups * filters);

    out.bound(k, 0, filters)
        .split(x, xo, x, tile.x, TailStrategy::GuardWithIf)
        .split(y, yo, y, tile.y, TailStrategy::GuardWithIf)
        .split(g, gb, g, tile.groups, TailStrategy::RoundUp)
        .split(gb, gt, gb, blocks, TailStrategy::GuardWithIf)
        .split(g, gv, g, tile.across)
        .reorder(k, g, x, y, xo, gv, yo, gb, gt, n)
        .vectorize(k)
        .vectorize(g);
    out.fuse(gt, n, rows).parallel(rows);
    // The ends of tiles are compared with in each: a second loop for the last would double the
    // code.
    if (!context.in_place && context.width == 0) out.never_partition(x, xo, y, yo);
    if (context.in_place)
        out.unroll(x);
    else if (filters < kFilterBlock)
        out.specialize(context.plain).unroll(x);
    stages.activated.compute_at(out, x).vectorize(k).vectorize(g);
    by_activation(stages.activated, context);
    stages.start.compute_at(out, gb).vectorize(k);
    stages.sum.compute_at(out, xo)
        .bound_extent(k, filters)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .bound_extent(g, tile.across)
        .align_bounds(g, tile.across)
        .vectorize(k, lanes)
        .vectorize(g)
        .unroll(k)
        .unroll(x)
        .unroll(y);
    Stage update = add_in_vectors(stages.sum, stages.of_pair, lanes,
                                  {k, g, x, y, stages.rs, stages.rc, stages.rr});
    update.vectorize(g).unroll(k).unroll(x).unroll(y).unroll(stages.rc, tile.depth);
    if (context.kernel_w > 0) update.unroll(stages.rs);
    // With the width of the image known its edges are constants, and the input is read as it is
    // (32 channels a group, 7x7: 78 GFLOP/s on one Zen 4 core, against 70 with a staged row; bench
    // --list resnext50 --filter 7x7).
    if (context.width == 0 || context.pairs)
        stages.padded.store_at(out, gb).compute_at(out, yo).vectorize(c).vectorize(g);
    if (context.pairs) stages.padded.update().unscheduled();
    if (context.filter_packed || lies_in_vectors(context)) return;
    stages.packed.compute_at(out, gb)
        .reorder_storage(stages.ki, g, c, s, r, stages.ko)
        .bound_extent(stages.ki, context.pairs ? 2 * filters : filters);
    Func &read = stages.of_pair ? stages.pack.words : stages.packed;
    if (stages.of_pair) {
        stages.packed.vectorize(stages.ki);
        read.compute_at(out, gb)
            .reorder_storage(stages.ki, g, c, s, r, stages.ko)
            .bound_extent(stages.ki, filters);
    }
    if (context.filters_inner)
        read.reorder(stages.ki, s, r, c, g, stages.ko).vectorize(stages.ki);
    else
        read.reorder(c, stages.ki, g, s, r, stages.ko).vectorize(c);
}

}  // namespace cpu

}  // namespace hk::schedules
