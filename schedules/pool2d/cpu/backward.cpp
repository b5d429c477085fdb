#include "schedules/pool2d/pool2d_backward.h"

#include "schedules/pool2d/cpu/bands.h"
#include "schedules/pool2d/cpu/blocks.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;

struct GradientTile {
    int rows;   // of pixels, for which what windows hold is kept
    int chunk;  // elements of a task, which has whole bands of those rows
    int lanes;  // of a vector; fewer where images are narrow
};

GradientTile choose(const Pool2dContext &context) {
    GradientTile tile = {context.nhwc ? 8 : 16, 16384, context.target.natural_vector_size<float>()};
    Knobs knobs(context.knobs);
    knobs.take("rows", tile.rows, powers(1, 64));
    knobs.take("chunk", tile.chunk, powers(1024, 1 << 18));
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    knobs.end();
    return tile;
}

}  // namespace

// Vectors of channels. What windows are looked at for is kept for a band of rows of pixels.
void pool2d_backward_by_channels(Pool2dBackward &stages, const Pool2dContext &context) {
    if (!context.nhwc) throw CompileError("schedule by_channels is for nhwc, nchw has by_rows");
    const GradientTile tile = choose(context);
    const int lanes = tile.lanes;
    const Var co("co"), yo("yo"), band("band"), task("task");
    Func &out = stages.output;
    out.compute_root()
        .split(c, co, c, lanes, guard)
        .split(y, yo, y, tile.rows, guard)
        .reorder(c, co, x, y, yo, g, n)
        .fuse(g, n, n)
        .fuse(yo, n, band)
        .split(band, task, band, max(tile.chunk / tile.rows / context.row, 1), guard)
        .parallel(task)
        .vectorize(c);
    stages.sum.compute_at(out, co)
        .vectorize(c, lanes, guard)
        .update()
        .reorder(c, stages.w.x, stages.w.y)
        .vectorize(c, lanes, guard)
        .never_partition(stages.w.x, stages.w.y);
    stages.window.compute_at(out, band).vectorize(c, lanes, guard);
    if (!stages.r.defined()) return;
    Stage scan = stages.window.update();
    scan.split(c, co, c, lanes, guard)
        .reorder(c, stages.r.x, stages.r.y, co, x, y)
        .vectorize(c)
        .never_partition(stages.r.x, stages.r.y, x, y);
    if (context.kernel_w > 0 && context.kernel_h > 0) scan.unroll(stages.r.x).unroll(stages.r.y);
}

namespace {

// What a band needs of the windows of a row: each vector of them by itself, then where it belongs.
void windows_of_rows(Pool2dBackward &stages, const Pool2dContext &context, int lanes,
                     const Var &band, const Var &task) {
    Func &out = stages.output;
    const Var odd("odd");
    stages.spread.compute_at(out, band).hoist_storage(out, task).align_bounds(x, 2);
    stages.spread.specialize(context.stride_x == 1).vectorize(x, lanes, round_up);
    stages.spread.specialize(context.stride_x == 2)
        .split(x, x, odd, 2)
        .vectorize(x, lanes, round_up)
        .unroll(odd);
    const RVar vectors("vectors");
    const auto whole_rows = [&](Func &rows, const RVar &all) {
        rows.compute_at(out, band)
            .hoist_storage(out, task)
            .vectorize(x, lanes, round_up)
            .update()
            .split(all, vectors, all, lanes, guard)
            .vectorize(all);
    };
    whole_rows(stages.dense, stages.windows.x);
    if (!stages.r.defined()) {
        stages.pixels.compute_at(out, task).vectorize(x, lanes, round_up);
        return;
    }
    stages.window.compute_at(stages.dense, vectors)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .reorder(x, stages.r.x, stages.r.y)
        .vectorize(x)
        .never_partition(stages.r.x, stages.r.y);
    if (context.kernel_w > 0) stages.window.update().unroll(stages.r.x);
    if (context.kernel_h > 0) stages.window.update().unroll(stages.r.y);
    whole_rows(stages.order, stages.columns.x);
}

}  // namespace

// What windows are looked at for is kept for the whole image.
void pool2d_backward_in_blocks(Pool2dBackward &stages, const Pool2dContext &context) {
    in_blocks(stages.output, stages.blocked, context);
    const int lanes = context.target.natural_vector_size<float>();
    const Var inner = context.nhwc ? c : x;
    stages.window.compute_root().parallel(n).vectorize(inner, lanes, guard);
    if (stages.r.defined())
        stages.window.update()
            .reorder(inner, stages.r.x, stages.r.y)
            .parallel(n)
            .vectorize(inner, lanes, guard)
            .never_partition_all();
}

// Vectors of columns. For a band of rows of pixels, in the first cache, what a row of windows has
// for each column of pixels is folded once, whatever number of rows of pixels takes it; windows are
// spread to their first columns before, so that a pixel's are loaded with its neighbours'. Lost:
// windows looked for by each pixel, which gathers in every lane.
void pool2d_backward_by_rows(Pool2dBackward &stages, const Pool2dContext &context) {
    if (context.nhwc) throw CompileError("schedule by_rows is for nchw, nhwc has by_channels");
    const GradientTile tile = choose(context);
    const int lanes = tile.lanes;
    const Expr bands = tile.chunk / context.row / min(tile.rows, context.rows);
    const Var xo("xo"), band("band"), task("task");
    Func &out = stages.output;
    by_bands(out, context, lanes, tile.rows, bands, xo, band, task);
    stages.sum.compute_at(out, xo)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .vectorize(x)
        .never_partition(stages.w.x);
    const RVar k = stages.kernel_columns.x;
    stages.across.compute_at(out, band)
        .hoist_storage(out, task)
        .split(x, xo, x, lanes, round_up)
        .vectorize(x);
    stages.folded.compute_at(stages.across, xo)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .reorder(x, k)
        .vectorize(x)
        .never_partition(k);
    if (context.kernel_w > 0) stages.folded.update().unroll(k);
    windows_of_rows(stages, context, lanes, band, task);
}

}  // namespace hk::schedules::cpu
