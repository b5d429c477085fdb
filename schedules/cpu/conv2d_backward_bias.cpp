#include "schedules/conv2d_backward_bias.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace cpu {

// Parts run in parallel: their sums are small, and there may be one group of few filters. Vectors
// of filters (nhwc) or of columns (nchw).
void backward_bias(Conv2dBackwardBias &stages, const Conv2dBackwardBiasContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const int lanes = context.target.natural_vector_size<float>();
    const RDom &d = stages.r;
    stages.partial.compute_root().parallel(stages.part);
    if (context.nhwc) {
        stages.partial.vectorize(k, lanes, guard);
        stages.partial.update()
            .reorder(k, d.x, d.y, g, stages.part)
            .parallel(stages.part)
            .vectorize(k, lanes, guard);
    } else {
        stages.partial.vectorize(stages.lane);
        stages.partial.update()
            .reorder(stages.lane, d.x, d.y, k, g, stages.part)
            .parallel(stages.part)
            .vectorize(stages.lane);
        stages.folded.compute_at(stages.output, k);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
