#include "schedules/conv2d_backward/conv2d_backward_data.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
const Var xo("xo"), yo("yo"), gb("gb"), gv("gv"), gt("gt"), xp("xp"), rows("rows");

// With the strides, kernel and paddings known the taps of every phase are numbers, and the phases
// of a tile share what they read: one pass over the output's gradient writes all of the input's.
struct PhasesTile {
    int x, y;     // pixels of the output's gradient; nchw: y alone
    int vectors;  // of groups, side by side in a task; channels of more than one a group only
    int lanes;    // of a vector
};

PhasesTile choose(const Conv2dBackwardDataContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    PhasesTile tile =
        context.nhwc ? PhasesTile{2, 2, 8, lanes} : PhasesTile{lanes / 2, 1, 1, lanes / 2};
    Knobs knobs(context.knobs);
    if (context.nhwc) knobs.take("tile_x", tile.x, steps(1, 8));
    knobs.take("tile_y", tile.y, steps(1, 8));
    if (context.channels_per_group > 1) knobs.take("vectors", tile.vectors, steps(1, 16));
    knobs.take("lanes", tile.lanes, {2, 4, 8, 16});
    knobs.end();
    if (!context.nhwc && vector_registers(context.target) < 32) tile.y = std::max(tile.y / 2, 1);
    const int channels = context.nhwc ? context.channels_per_group : 1;
    const int width = std::max(tile.lanes / channels, 1) * channels;
    const int pixels = context.nhwc ? tile.x * tile.y : tile.y;
    knobs.estimate("vector registers",
                   pixels * context.stride_x * context.stride_y * ((width + lanes - 1) / lanes) + 1,
                   vector_registers(context.target));
    return tile;
}

// A tile's sums, all phases of it unrolled.
void unroll_phases(Conv2dBackwardData &stages, const PhasesTile &tile,
                   const Conv2dBackwardDataContext &context) {
    const Var &px = stages.px, &py = stages.py;
    const RDom &d = stages.r;
    Func &sum = stages.sum;
    sum.bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .bound(px, 0, context.stride_x)
        .bound(py, 0, context.stride_y)
        .unroll(y)
        .unroll(px)
        .unroll(py)
        .update()
        .reorder(c, g, x, y, px, py, d.y, d.z, d.x)
        .unroll(y)
        .unroll(px)
        .unroll(py)
        .unroll(d.y)
        .unroll(d.z);
    if (context.nhwc) {
        sum.bound_extent(c, context.channels_per_group).vectorize(c).vectorize(g).unroll(x);
        sum.update().vectorize(c).vectorize(g).unroll(x);
    } else {
        sum.vectorize(x);
        sum.update().vectorize(x);
    }
}

// Vectors of neighbouring groups' channels. Memory decides: depthwise, all groups of a tile's
// pixels follow each other, so that whole lines of cache are written in turn. With more channels a
// group the filters of all groups would not stay in the first cache: those of some vectors do, and
// rows of the gradient are padded for those.
//
// bench, batch 8, GFLOP/s on one Zen 4 core. 96 channels at 112x112 3x3 s2: 12.5 (groups outermost
// 9.4, without the specialisation, which spares a read of what is overwritten, 10.5). 256 channels
// in 32 groups at 56x56: 55 (one vector of groups a task: 43; 4 x 1 pixels: 53).
void across_groups(Conv2dBackwardData &stages, const Conv2dBackwardDataContext &context) {
    const PhasesTile tile = choose(context);
    const int channels = context.channels_per_group;
    const int groups = std::max(tile.lanes / channels, 1);
    const bool depthwise = channels == 1;
    Func &out = stages.output;

    out.bound(c, 0, channels)
        .split(x, xo, x, context.stride_x * tile.x, guard)
        .split(y, yo, y, context.stride_y * tile.y, guard)
        .split(g, gb, g, groups * (depthwise ? 1 : tile.vectors), TailStrategy::ShiftInwards)
        .split(g, gv, g, groups)
        .reorder(c, g, x, y, gv)
        .vectorize(c)
        .vectorize(g)
        .unroll(x)
        .unroll(y);
    stages.filter.reorder_storage(c, g, s, r, k)
        .reorder(c, s, r, k, g)
        .bound_extent(c, channels)
        .vectorize(c);
    if (depthwise) {
        out.reorder(c, g, x, y, gv, gb, xo, yo, n).parallel(yo).parallel(n);
        stages.filter.compute_root();
    } else {
        out.reorder(c, g, x, y, gv, xo, yo, gb, n).fuse(gb, n, rows).parallel(rows);
        stages.filter.compute_at(out, rows);
        stages.gradient.store_at(out, rows)
            .compute_at(out, yo)
            .bound_extent(k, context.filters_per_group)
            .vectorize(k)
            .vectorize(g, groups, TailStrategy::RoundUp);
    }
    out.specialize(context.plain);
    stages.sum.compute_at(out, gv);
    unroll_phases(stages, tile, context);
}

// Vectors of columns of the phases, interleaved in registers to columns of the input. A task takes
// several planes, one at a time. Their rows of f32 are read where they are, by the masks of
// AVX-512; others are copied to zeros: by AVX2's masks 112x112 takes 1.3 times as long. The filter
// of more than 9 taps is copied, or its elements would be read again for each tile.
//
// bench --family conv2d_backward_data --layout nchw --list mobilenetv2 --filter s2_d on Zen 4, us,
// and with all rows and filters copied: 14x14 21 and 38, 28x28 22 and 30, 56x56 49 and 59, 112x112
// 107 and 132. Lost: loops over edges and the inside, 1.05 times as slow; 7 rows of phases.
void across_columns(Conv2dBackwardData &stages, const Conv2dBackwardDataContext &context) {
    PhasesTile tile = choose(context);
    tile.x = tile.lanes;
    const int width = tile.x * context.stride_x, height = tile.y * context.stride_y;
    Func &out = stages.output;
    out.split(x, xo, x, width, guard)
        .split(y, yo, y, height, guard)
        .split(g, g, gt, 8, guard)
        .reorder(x, y, xo, yo, c, gt, g, n)
        .vectorize(x)
        .unroll(y)
        .fuse(g, n, rows)
        .parallel(rows);
    stages.joined.compute_at(out, xo)
        .bound_extent(x, width)
        .bound_extent(y, height)
        .split(x, x, xp, context.stride_x)
        .reorder(xp, x, y)
        .unroll(xp)
        .vectorize(x)
        .unroll(y);
    stages.sum.compute_at(out, xo);
    unroll_phases(stages, tile, context);
    const bool copied = !masks_columns(context);
    if (copied || context.kernel_w * context.kernel_h > 9)
        stages.filter.compute_at(out, gt).hoist_storage(out, rows);
    if (copied) {
        stages.gradient.compute_at(out, gt).hoist_storage(out, rows).vectorize(
            x, tile.lanes, TailStrategy::RoundUp);
        stages.gradient.update().vectorize(stages.columns.x, tile.lanes, guard);
    }
    out.specialize(context.plain && context.dense_columns);
    out.specialize(context.dense_columns);
}

}  // namespace

bool masks_columns(const Conv2dBackwardDataContext &context) {
    return context.f32 && context.target.natural_vector_size<float>() == 16;
}

namespace cpu {

void backward_data_unrolled_phases(Conv2dBackwardData &stages,
                                   const Conv2dBackwardDataContext &context) {
    if (context.nhwc)
        across_groups(stages, context);
    else
        across_columns(stages, context);
}

}  // namespace cpu

}  // namespace hk::schedules
