#include "schedules/conv2d_backward/conv2d_backward_data.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
const Var xb("xb"), xp("xp"), cb("cb"), rows("rows");

// Vectors of input channels, as the weight has them, times broadcasts of the output's gradient at
// eight pixels of a phase.
void across_channels(Conv2dBackwardData &stages, const Conv2dBackwardDataContext &context,
                     int tile_x) {
    const int lanes = context.target.natural_vector_size<float>();
    const RDom &d = stages.r;
    Func &out = stages.output;
    out.split(x, xb, x, tile_x * context.phases_x, guard)
        .split(c, cb, c, lanes, guard)
        .reorder(c, x, cb, xb, y, g, n)
        .fuse(y, g, rows)
        .vectorize(c)
        .parallel(rows)
        .parallel(n);
    stages.sum.compute_at(out, cb)
        .bound_extent(x, tile_x)
        .vectorize(c, lanes, guard)
        .unroll(x)
        .update()
        .reorder(c, x, d.x, d.y, d.z, stages.px, stages.py)
        .vectorize(c, lanes, guard)
        .unroll(x);
}

// Vectors of columns of a phase; with a stride of one they are columns of the input too.
void across_columns(Conv2dBackwardData &stages, const Conv2dBackwardDataContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const RDom &d = stages.r;
    Func &out = stages.output;
    out.split(x, xb, x, lanes * context.phases_x, guard)
        .split(x, x, xp, context.phases_x)
        .reorder(x, xp, xb, y, c, g, n)
        .fuse(c, g, rows)
        .parallel(rows)
        .parallel(n);
    if (context.stride_x <= 1)
        out.specialize(context.phases_x == 1 && context.dense_columns).vectorize(x, lanes);
    stages.sum.compute_at(out, xb)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .reorder(x, d.x, d.y, d.z, stages.px, stages.py)
        .vectorize(x);
}

}  // namespace

namespace cpu {

// One tile of a row of the input, all its phases: their sums lie side by side in a buffer and go
// to their places from there. What lies next to each other in memory is a vector. Images are a loop
// of their own: of a remainder of a remainder, as y would be with three dimensions fused, Halide
// takes all values, and a task's buffer would be that of all rows.
void backward_data_buffered_phases(Conv2dBackwardData &stages,
                                   const Conv2dBackwardDataContext &context) {
    int tile_x = 8;
    Knobs knobs(context.knobs);
    if (context.nhwc) {
        knobs.take("tile_x", tile_x, steps(1, 16));
        knobs.estimate("vector registers", tile_x + 1, vector_registers(context.target));
    }
    knobs.end();
    if (context.nhwc)
        across_channels(stages, context, tile_x);
    else
        across_columns(stages, context);
}

}  // namespace cpu

}  // namespace hk::schedules
