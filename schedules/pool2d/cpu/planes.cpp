#include "schedules/pool2d/pool2d.h"
#include "schedules/pool2d/pool2d_backward.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr int kPlanes = 16;  // of a vector of the output

int chosen_chunk(const Pool2dContext &context) {
    int chunk = 32768;  // elements of a task, which has whole planes
    Knobs knobs(context.knobs);
    knobs.take("chunk", chunk, powers(1024, 1 << 18));
    knobs.end();
    return chunk;
}

}  // namespace

// A plane's numbers are vectors, kPlaneParts sums at a time, the last under a mask; what these have
// of kPlanes planes becomes one vector by as many additions as there are planes, less one. Lost:
// each plane's lanes added up by themselves, twice as many shuffles; four sums at a time, most of
// them masked away where rows are short and spaced.
void pool2d_by_planes(Pool2d &stages, const Pool2dContext &context) {
    if (context.nhwc) throw CompileError("schedule by_planes is for nchw, nhwc has by_channels");
    const Expr together = chosen_chunk(context) / kPlanes / max(context.plane, 1);
    const Var co("co"), task("task");
    Func &out = stages.output;
    out.compute_root()
        .split(c, co, c, kPlanes, guard)
        .reorder(c, x, y, co, g, n)
        .fuse(g, n, n)
        .fuse(co, n, co)
        .split(co, task, co, max(together, 1), guard)
        .parallel(task)
        .vectorize(c);
    out.specialize(context.stride_c == 1);
    stages.folded.compute_at(out, co)
        .bound_extent(c, kPlanes)
        .vectorize(c)
        .update()
        .reorder(stages.lanes.x, c)
        .atomic()
        .vectorize(stages.lanes.x)
        .vectorize(c);
    stages.of_lane.compute_at(out, co)
        .bound_extent(stages.lane, kPlaneLanes)
        .vectorize(stages.lane);
    stages.part.compute_at(stages.of_lane, c)
        .bound_extent(stages.lane, kPlaneLanes)
        .bound_extent(stages.set, kPlaneParts)
        .vectorize(stages.lane)
        .unroll(stages.set)
        .update()
        .reorder(stages.lane, stages.set, stages.r.x, stages.r.y)
        .vectorize(stages.lane)
        .unroll(stages.set);
}

// Rows of a plane, or all of it as one, are vectors of one number, the last under a mask.
void pool2d_backward_by_planes(Pool2dBackward &stages, const Pool2dContext &context) {
    if (context.nhwc) throw CompileError("schedule by_planes is for nchw, nhwc has by_channels");
    const Expr together = chosen_chunk(context) / max(context.plane, 1);
    const Var xo("xo"), task("task");
    const int lanes = context.target.natural_vector_size<float>();
    Func &out = stages.output;
    out.compute_root()
        .split(x, xo, x, lanes, guard)
        .reorder(x, xo, y, c, g, n)
        .fuse(g, n, n)
        .fuse(c, n, c)
        .split(c, task, c, max(together, 1), guard)
        .parallel(task)
        .vectorize(x);
    stages.share.compute_at(out, c);
}

}  // namespace hk::schedules::cpu
