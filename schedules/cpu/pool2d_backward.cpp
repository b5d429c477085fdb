#include "schedules/pool2d_backward.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// Vectors of channels (nhwc) or of columns (nchw). What windows are looked at for is kept for eight
// rows of pixels; a task is so many of those that they have 16384 elements.
void pool2d_backward(Pool2dBackward &stages, const Pool2dContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    constexpr int kRows = 8;
    const int lanes = context.target.natural_vector_size<float>();
    const Var v = context.nhwc ? c : x, vo("vo"), yo("yo"), rows("rows"), task("task");
    Func &out = stages.output;
    out.compute_root().split(v, vo, v, lanes, guard).split(y, yo, y, kRows, guard);
    if (context.nhwc) {
        out.reorder(v, vo, x, y, yo, g, n).fuse(g, n, n);
    } else {
        out.reorder(v, vo, y, yo, c, g, n).fuse(g, n, n).fuse(c, n, n);
    }
    out.fuse(yo, n, rows)
        .split(rows, task, rows, max(16384 / kRows / context.row, 1), guard)
        .parallel(task)
        .vectorize(v);
    if (!context.nhwc) stages.first_x.compute_root();  // else it is divided in every lane
    stages.sum.compute_at(out, vo)
        .vectorize(v, lanes, guard)
        .update()
        .reorder(v, stages.w.x, stages.w.y)
        .vectorize(v, lanes, guard);
    stages.window.compute_at(out, rows).vectorize(v, lanes, guard);
    if (stages.r.defined()) {
        Stage scan = stages.window.update();
        scan.split(v, vo, v, lanes, guard);
        if (context.nhwc) {
            scan.reorder(v, stages.r.x, stages.r.y, vo, x, y).never_partition(x);
        } else {
            scan.reorder(v, stages.r.x, stages.r.y, vo, y);
        }
        scan.vectorize(v).never_partition(stages.r.x, stages.r.y, y);
    }
}

}  // namespace hk::schedules::cpu
