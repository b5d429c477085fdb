#include "schedules/conv2d_backward/conv2d_backward_data.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// Sums in registers: of one vector of columns, of all phases.
struct ColumnsTile {
    int y;       // rows of the output's gradient
    int c;       // channels: each vector of the gradient is multiplied with a tap of all of them
    int lanes;   // of the vector
    int copied;  // 1: rows are copied to zeros first; 0: read where they are, by masks
};

ColumnsTile choose(const Conv2dBackwardDataContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    ColumnsTile tile = {2, 2, 16, masks_columns(context) ? 0 : 1};
    Knobs knobs(context.knobs);
    knobs.take("tile_y", tile.y, steps(1, 8));
    knobs.take("tile_c", tile.c, {1, 2, 4, 8});
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    knobs.take("copied", tile.copied, {0, 1});
    knobs.end();
    if (!masks_columns(context)) tile.copied = 1;
    tile.lanes = std::min(tile.lanes, lanes);
    // Rows name what fits AVX-512.
    if (vector_registers(context.target) < 32) tile.c = std::max(tile.c / 2, 1);
    knobs.estimate("vector registers",
                   tile.y * tile.c * context.stride_x * context.stride_y + tile.y + 1,
                   vector_registers(context.target));
    return tile;
}

// With zeros around them.
void copy_rows(Conv2dBackwardData &stages, const ColumnsTile &tile) {
    const Var task("task");
    stages.gradient.compute_root()
        .reorder_storage(x, y, c, g, n)
        .reorder(x, y, c, g, n)
        .fuse(c, g, task)
        .parallel(task)
        .vectorize(x, tile.lanes, TailStrategy::RoundUp);
    stages.gradient.update()
        .reorder(stages.columns.x, y, c, g, n)
        .fuse(c, g, task)
        .parallel(task)
        .vectorize(stages.columns.x, tile.lanes, TailStrategy::GuardWithIf);
}

}  // namespace

namespace cpu {

bool copies_phase_columns(const Conv2dBackwardDataContext &context) {
    return choose(context).copied;
}

int channels_of_phase_columns(const Conv2dBackwardDataContext &context) {
    return choose(context).c;
}

// Of nchw: vectors of columns, read where they are by the masks of AVX-512, times broadcasts of the
// filter's taps, which are read where they are too: nothing is packed, copied or transposed. All
// phases' sums of some channels are in registers while the filters pass, and are interleaved to
// columns of the input at the end. With a stride of 1, of 8 channels by 2 rows, a filter's 12
// vectors and 72 taps are for 144 multiply-adds; with one of 2, of 2 channels by 2 rows, 6 and 18
// for 36. Of 4 channels by one row they are 4 and 36 for 36, which is faster where there is one
// multiply-add a cycle (tile_c:2,tile_y:2 there 0.93 of the speed).
//
// A task's channels are outermost: taps of large filters are read once. Filters whose taps follow
// each other have code of their own, with one address for all.
//
// explorer run conv2d_backward_data resnext50 --layout nchw --row columns_3x3 on Zen 4, GFLOP/s of
// 118, of which columns fill 7/8: 28x28_256-256_3x3_g32 91, with a stride of 2 (columns_3x3_s2)
// 56x56_256-256_3x3_s2_g32 89, dense 56x56_128-128_3x3_s2 100. Lost, by knobs: rows copied to zeros
// (copied:1), 0.95 of the speed. Lost too: one phase after the other, 0.85 of the speed.
void backward_data_phase_columns(Conv2dBackwardData &stages,
                                 const Conv2dBackwardDataContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;
    const ColumnsTile tile = choose(context);
    const Var xo("xo"), xp("xp"), yo("yo"), cb("cb"), tasks("tasks");
    const Var &px = stages.px, &py = stages.py;
    const RDom &d = stages.r;
    const int width = tile.lanes * context.stride_x, height = tile.y * context.stride_y;
    Func &out = stages.output;
    out.split(x, xo, x, width, guard)
        .split(y, yo, y, height, guard)
        .split(c, cb, c, tile.c, round_up)
        .reorder(x, y, c, xo, yo, cb, g, n)
        .vectorize(x)
        .unroll(y)
        .unroll(c)
        .partition(xo, Partition::Never)
        .partition(yo, Partition::Never)
        .fuse(cb, g, tasks)
        .fuse(tasks, n, tasks)
        .parallel(tasks);
    stages.joined.compute_at(out, xo)
        .bound_extent(x, width)
        .bound_extent(y, height)
        .bound_extent(c, tile.c)
        .reorder_storage(x, y, c, g, n)
        .split(x, x, xp, context.stride_x)
        .reorder(xp, x, y, c)
        .unroll(xp)
        .vectorize(x)
        .unroll(y)
        .unroll(c);
    Func &sum = stages.sum;
    sum.compute_at(out, xo)
        .bound_extent(x, tile.lanes)
        .bound_extent(y, tile.y)
        .bound_extent(c, tile.c)
        .bound(px, 0, context.stride_x)
        .bound(py, 0, context.stride_y)
        .reorder_storage(x, y, c, px, py, g, n)
        .update()
        .reorder(x, y, c, px, py, d.z, d.y, d.x)
        .unroll(d.y)
        .unroll(d.z);
    for (Stage stage : {Stage(sum), Stage(sum.update())})
        stage.vectorize(x).unroll(y).unroll(c).unroll(px).unroll(py);
    if (tile.copied) copy_rows(stages, tile);
    out.specialize(context.plain && context.dense_columns && context.dense_filter);
    out.specialize(context.dense_columns && context.dense_filter);
}

}  // namespace cpu

}  // namespace hk::schedules
