#include "schedules/pool2d_backward.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

// Vectors of channels (nhwc) or of columns (nchw). What windows are looked at for is kept for eight
// rows of pixels; a task is so many of those that they have 16384 elements.
void pool2d_backward(Pool2dBackward &stages, const Pool2dContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    int kept = 8, chunk = 16384;
    Knobs knobs(context.knobs);
    knobs.take("rows", kept, powers(1, 64));
    knobs.take("chunk", chunk, powers(1024, 1 << 18));
    knobs.end();
    const int lanes = context.target.natural_vector_size<float>();
    const Var v = context.nhwc ? c : x, vo("vo"), yo("yo"), rows("rows"), task("task"), cs("cs"),
              ns("ns");
    Func &out = stages.output;
    out.compute_root().split(v, vo, v, lanes, guard).split(y, yo, y, kept, guard);
    if (context.nhwc) {
        out.reorder(v, vo, x, y, yo, g, n).fuse(g, n, n);
    } else {
        // By one: else Halide takes all planes for the bounds of one.
        out.split(c, cs, c, 1).split(n, ns, n, 1);
        out.reorder(v, vo, y, c, n, yo, cs, g, ns).fuse(g, ns, ns).fuse(cs, ns, ns);
    }
    out.fuse(yo, context.nhwc ? n : ns, rows)
        .split(rows, task, rows, max(chunk / kept / context.row, 1), guard)
        .parallel(task)
        .vectorize(v);
    // Columns are read where there are any, so that vectors of them are whole.
    const TailStrategy tail = context.nhwc ? guard : TailStrategy::RoundUp;
    stages.sum.compute_at(out, vo)
        .vectorize(v, lanes, tail)
        .update()
        .reorder(v, stages.w.x, stages.w.y)
        .vectorize(v, lanes, tail)
        .never_partition(stages.w.x, stages.w.y);
    if (!context.nhwc) {
        stages.sum.bound_extent(x, lanes);
        stages.first_x.compute_root();  // else every lane divides
    }
    stages.window.compute_at(out, rows).vectorize(v, lanes, tail);
    if (stages.r.defined()) {
        Stage scan = stages.window.update();
        scan.split(v, vo, v, lanes, tail);
        if (context.nhwc) {
            scan.reorder(v, stages.r.x, stages.r.y, vo, x, y).never_partition(x);
        } else {
            scan.reorder(v, stages.r.x, stages.r.y, vo, y);
        }
        scan.vectorize(v).never_partition(stages.r.x, stages.r.y, y);
        if (context.kernel_w > 0 && context.kernel_h > 0)
            scan.unroll(stages.r.x).unroll(stages.r.y);
    }
}

}  // namespace hk::schedules::cpu
