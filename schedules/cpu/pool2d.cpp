#include "schedules/pool2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// Vectors of channels (nhwc) or of columns (nchw), a register each, over all pixels of their
// windows. A task is so many rows that they have 16384 elements.
void pool2d(Pool2d &stages, const Pool2dContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const int lanes = context.target.natural_vector_size<float>();
    const Var v = context.nhwc ? c : x, vo("vo"), row("row"), task("task");
    Func &out = stages.output;
    out.compute_root().split(v, vo, v, lanes, guard);
    if (context.nhwc) {
        out.reorder(v, vo, x, y, g, n).fuse(g, n, n);
    } else {
        out.reorder(v, vo, y, c, g, n).fuse(g, n, n).fuse(c, n, n);
    }
    out.fuse(y, n, row)
        .split(row, task, row, max(16384 / context.row, 1), guard)
        .parallel(task)
        .vectorize(v);
    stages.folded.compute_at(out, vo)
        .vectorize(v, lanes, guard)
        .update()
        .reorder(v, stages.r.x, stages.r.y)
        .vectorize(v, lanes, guard)
        .never_partition(stages.r.x, stages.r.y);
    if (context.kernel_w > 0) stages.folded.update().unroll(stages.r.x);
    if (context.kernel_h > 0) stages.folded.update().unroll(stages.r.y);
}

}  // namespace hk::schedules::cpu
