#include "schedules/cpu_dot.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

int quantized_dot_lanes(const QuantizedConv2dContext &context) {
    return context.target.natural_vector_size<float>();
}

namespace cpu {

void quantized_dot(QuantizedConv2dDot &stages, const QuantizedConv2dContext &context) {
    const int lanes = quantized_dot_lanes(context);
    const RDom &d = stages.r;
    schedule_filters(stages, context, LoopLevel::root(), k);
    Stage update = sum_by_lanes(stages, context, context.plain);
    if (context.integer)
        update.atomic().reorder(d.x, stages.lane, k, x, y, d.y, d.z, d.w).vectorize(d.x);
    else
        update.reorder(d.x, stages.lane, k, x, y, d.y, d.z, d.w).unroll(d.x);
    update.vectorize(stages.lane).unroll(k).unroll(x).unroll(y);
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.window_sum.compute_at(stages.output, n);
    }
    stages.padded.compute_at(stages.output, n)
        .vectorize(c, context.integer ? 4 * lanes : lanes, TailStrategy::RoundUp)
        .parallel(y);
}

}  // namespace cpu

}  // namespace hk::schedules
