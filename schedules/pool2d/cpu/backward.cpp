#include "schedules/pool2d/pool2d_backward.h"

#include "schedules/pool2d/cpu/bands.h"
#include "schedules/pool2d/cpu/blocks.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;

struct GradientTile {
    int rows;     // of pixels, for which what windows hold is kept
    int chunk;    // elements of a task, which has whole bands of those rows
    int lanes;    // of a vector; fewer where images are narrow
    int vectors;  // of channels side by side: where images have as many
};

GradientTile choose(const Pool2dContext &context) {
    GradientTile tile = {context.nhwc ? 8 : 16, 16384,
                         context.target.natural_vector_size<float>(), 1};
    Knobs knobs(context.knobs);
    knobs.take("rows", tile.rows, powers(1, 64));
    knobs.take("chunk", tile.chunk, powers(1024, 1 << 18));
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    if (context.nhwc) knobs.take("vectors", tile.vectors, {1, 2, 4});
    knobs.end();
    return tile;
}

}  // namespace

// Vectors of channels; several side by side share what finds a pixel and its windows, and the last
// begin before the end of those before them. What windows are looked at for is kept for a band of
// rows of pixels.
void pool2d_backward_by_channels(Pool2dBackward &stages, const Pool2dContext &context) {
    if (!context.nhwc) throw CompileError("schedule by_channels is for nhwc, nchw has by_rows");
    const GradientTile tile = choose(context);
    const int lanes = tile.lanes, block = tile.lanes * tile.vectors;
    const TailStrategy last = tile.vectors > 1 ? TailStrategy::ShiftInwards : guard;
    const Var co("co"), kv("kv"), yo("yo"), band("band"), task("task");
    Func &out = stages.output;
    out.compute_root()
        .split(c, co, c, block, last)
        .split(c, kv, c, lanes, last)
        .split(y, yo, y, tile.rows, guard)
        .reorder(c, kv, co, x, y, yo, g, n)
        .fuse(g, n, n)
        .fuse(yo, n, band)
        .split(band, task, band, max(tile.chunk / tile.rows / context.row, 1), guard)
        .parallel(task)
        .vectorize(c)
        .unroll(kv);
    const auto in_registers = [&](Stage of) {
        of.split(c, kv, c, lanes, guard).vectorize(c).unroll(kv);
        return of;
    };
    stages.sum.compute_at(out, co);
    if (tile.vectors > 1) stages.sum.bound_extent(c, block);
    in_registers(stages.sum);
    in_registers(stages.sum.update())
        .reorder(c, kv, stages.w.x, stages.w.y)
        .never_partition(stages.w.x, stages.w.y);
    stages.window.compute_at(out, band)
        .split(c, co, c, block, last)
        .split(c, kv, c, lanes, last)
        .vectorize(c)
        .unroll(kv);
    if (!stages.r.defined()) return;
    stages.window.never_partition(x, y);
    stages.first_best.compute_at(stages.window, co);
    if (tile.vectors > 1) stages.first_best.bound_extent(c, block);
    in_registers(stages.first_best);
    Stage scan = in_registers(stages.first_best.update());
    scan.reorder(c, kv, stages.r.x, stages.r.y).never_partition(stages.r.x, stages.r.y);
    if (context.kernel_w > 0) scan.unroll(stages.r.x);
    if (context.kernel_h > 0) scan.unroll(stages.r.y);
}

namespace {

// What a band needs of the windows of a row: each vector of them by itself, then where it belongs.
void windows_of_rows(Pool2dBackward &stages, const Pool2dContext &context, int lanes,
                     const Var &band, const Var &task) {
    Func &out = stages.output;
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
    if (!stages.r.defined()) {
        stages.window.compute_root().parallel(n).vectorize(inner, lanes, guard);
        return;
    }
    stages.first_best.compute_root().parallel(n).vectorize(inner, lanes, guard);
    stages.first_best.update()
        .reorder(inner, stages.r.x, stages.r.y)
        .parallel(n)
        .vectorize(inner, lanes, guard)
        .never_partition_all();
}

// Vectors of columns. For a band of rows of pixels, in the first cache, what a row of windows has
// for each column of pixels is folded once, whatever number of rows of pixels takes it: by phases
// of the stride, so that vectors are of windows next to each other, and then side by side. Lost:
// windows looked for by each pixel, which gathers in every lane; windows spread to their first
// columns, whose vectors are half empty with a stride of two.
void pool2d_backward_by_rows(Pool2dBackward &stages, const Pool2dContext &context) {
    if (context.nhwc) throw CompileError("schedule by_rows is for nchw, nhwc has by_channels");
    const GradientTile tile = choose(context);
    const int lanes = tile.lanes;
    const Expr bands = tile.chunk / context.row / min(tile.rows, context.rows);
    const Var xo("xo"), band("band"), task("task"), odd("odd");
    Func &out = stages.output;
    by_bands(out, context, lanes, tile.rows, bands, xo, band, task);
    stages.sum.compute_at(out, xo)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .vectorize(x)
        .never_partition(stages.w.x);
    stages.across.compute_at(out, band).hoist_storage(out, task).align_bounds(x, 2);
    stages.across.specialize(context.stride_x == 2)
        .split(x, x, odd, 2)
        .split(x, xo, x, lanes, round_up)
        .reorder(odd, x, xo)
        .vectorize(x)
        .unroll(odd);
    stages.across.split(x, xo, x, lanes, round_up).vectorize(x);
    // In registers where there is no more of it than a vector for each phase.
    const RVar tap = stages.taps.x;
    const bool known = context.kernel_w > 0;
    stages.folded.compute_at(known ? LoopLevel(stages.across, xo) : LoopLevel(out, band))
        .hoist_storage(out, task)
        .vectorize(x, lanes, round_up)
        .update()
        .split(x, xo, x, lanes, round_up)
        .reorder(x, tap, xo)
        .vectorize(x)
        .never_partition(tap);
    if (known) stages.folded.update().unroll(tap);
    windows_of_rows(stages, context, lanes, band, task);
}

}  // namespace hk::schedules::cpu
