#include "schedules/conv2d_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
const Var cb("cb"), tasks("tasks");

}  // namespace

namespace cpu {

// All parts of a vector of channels (nhwc), or of one element in lanes of columns (nchw), one after
// the other; then they are added up. Filters and groups run in parallel.
void backward_weight(Conv2dBackwardWeight &stages, const Conv2dBackwardWeightContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const RDom &d = stages.r;
    Func &out = stages.output;
    if (context.nhwc) {
        out.split(c, cb, c, lanes, guard).reorder(c, cb, s, r, k, g).vectorize(c);
        stages.partial.compute_at(out, cb)
            .vectorize(c, lanes, guard)
            .update()
            .reorder(c, d.x, d.y, stages.part)
            .vectorize(c, lanes, guard);
    } else {
        out.reorder(s, r, c, k, g);
        stages.partial.compute_at(out, s)
            .vectorize(stages.lane)
            .update()
            .reorder(stages.lane, d.x, d.y, stages.part)
            .vectorize(stages.lane);
        stages.folded.compute_at(out, s);
    }
    out.fuse(k, g, tasks).parallel(tasks);
}

}  // namespace cpu

}  // namespace hk::schedules
