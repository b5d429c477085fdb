#include "schedules/pool2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

// A task is so many rows that they have 16384 elements.
Expr rows_of_task(const Pool2dContext &context) {
    int chunk = 16384;
    Knobs knobs(context.knobs);
    knobs.take("chunk", chunk, powers(1024, 1 << 18));
    knobs.end();
    return max(chunk / context.row, 1);
}

}  // namespace

// Vectors of channels, a register each, over all pixels of their windows.
void pool2d(Pool2d &stages, const Pool2dContext &context) {
    if (!context.nhwc) throw CompileError("schedule cpu is for nhwc, nchw has cpu_by_rows");
    const int lanes = context.target.natural_vector_size<float>();
    const Var co("co"), row("row"), task("task");
    stages.output.compute_root()
        .split(c, co, c, lanes, guard)
        .reorder(c, co, x, y, g, n)
        .fuse(g, n, n)
        .fuse(y, n, row)
        .split(row, task, row, rows_of_task(context), guard)
        .parallel(task)
        .vectorize(c);
    stages.folded.compute_at(stages.output, co)
        .vectorize(c, lanes, guard)
        .update()
        .reorder(c, stages.r.x, stages.r.y)
        .vectorize(c, lanes, guard)
        .never_partition(stages.r.x, stages.r.y);
    if (context.kernel_w > 0) stages.folded.update().unroll(stages.r.x);
    if (context.kernel_h > 0) stages.folded.update().unroll(stages.r.y);
}

// Vectors of columns: a row of the output first folds rows of the input as they are, whole vectors
// without a comparison, into one with room before and after the image; from there, in the first
// cache, come the pixels next to each other, of strides 1 and 2 by loads and shuffles. Lost:
// windows at once, where a vector of a small image nearly always touches an edge and is gathered.
void pool2d_by_rows(Pool2d &stages, const Pool2dContext &context) {
    if (context.nhwc) throw CompileError("schedule cpu_by_rows is for nchw, nhwc has cpu");
    constexpr auto round_up = TailStrategy::RoundUp;
    const int lanes = context.target.natural_vector_size<float>();
    const Var xo("xo"), cs("cs"), ns("ns"), row("row"), task("task");
    Func &out = stages.output;
    out.compute_root()
        .split(x, xo, x, lanes, guard)
        .split(c, cs, c, 1)  // else Halide takes all planes for the bounds of one
        .split(n, ns, n, 1)
        .reorder(x, xo, c, n, y, cs, g, ns)
        .fuse(g, ns, ns)
        .fuse(cs, ns, ns)
        .fuse(y, ns, row)
        .split(row, task, row, rows_of_task(context), guard)
        .parallel(task)
        .vectorize(x);
    if (context.stride_x.as<Internal::IntImm>() == nullptr) {
        out.specialize(context.stride_x == 1);
        out.specialize(context.stride_x == 2);
    }
    stages.folded.compute_at(out, xo)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .reorder(x, stages.r.x, stages.r.y)
        .vectorize(x);
    if (context.kernel_w > 0) stages.folded.update().unroll(stages.r.x);
    const RVar at = stages.columns.x, ao("ao");
    stages.column.compute_at(out, row)
        .hoist_storage(out, task)
        .vectorize(x, lanes, round_up)
        .update()
        .split(at, ao, at, lanes, guard)
        .reorder(at, stages.columns.y, ao)
        .vectorize(at)
        .never_partition(stages.columns.y);
    if (context.kernel_h > 0) stages.column.update().unroll(stages.columns.y);
}

}  // namespace hk::schedules::cpu
