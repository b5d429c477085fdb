#include "schedules/conv2d_backward/conv2d_backward_bias.h"

using namespace hk::generators;

namespace hk::schedules {

// CPU: a lane for each element of a vector of columns (nchw), one where vectors are of filters.
// GPU: a warp of lanes, and parts enough for a device's threads.
PartialSums backward_bias_sums(const Conv2dSizes &context) {
    const int vector = context.target.natural_vector_size<float>();
    const bool gpu = context.schedule != "parallel_parts";
    PartialSums sums =
        gpu ? PartialSums{context.nhwc ? 1 : 32, 64} : PartialSums{context.nhwc ? 1 : vector, 8};
    Knobs knobs(context.knobs);
    knobs.take("lanes", sums.lanes, powers(1, 64));
    knobs.take("parts", sums.parts, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256});
    knobs.end();
    return sums;
}

}  // namespace hk::schedules
