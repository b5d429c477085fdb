#include "schedules/conv2d/conv2d.h"
#include "schedules/cpu_dot.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

int dot_lanes(const Conv2dContext &context) { return context.target.natural_vector_size<float>(); }

namespace cpu {

// Of a plain weight, where packing costs up to half of the time: 7x7, 2048 to 512 channels, one Zen
// 4 core: 1.15 ms, packed in the call 1.98 ms (bench --list resnet50 --filter 7x7 --row 1x1_dot,
// and --row 1x1, column hk plain).
void dot(Conv2dDot &stages, const Conv2dContext &context) {
    const int lanes = dot_lanes(context);
    const RDom &d = stages.r;
    sum_by_lanes(stages, context, context.plain)
        .reorder(stages.lane, k, x, y, d.x, d.y, d.z)
        .vectorize(stages.lane)
        .unroll(k)
        .unroll(x)
        .unroll(y);
    stages.start.compute_root();
    if (stages.filter.defined()) stages.filter.compute_root();
    if (context.pointwise_f32) return;
    stages.padded.vectorize(c, lanes, TailStrategy::RoundUp);
    if (dot_tile(context).rows)
        stages.padded.compute_at(stages.output, Var("yo"));
    else
        stages.padded.compute_at(stages.output, n).parallel(y);
}

}  // namespace cpu

}  // namespace hk::schedules
