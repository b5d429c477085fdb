#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"

using namespace hk::generators;

namespace hk::schedules {

// A CPU's vector; the threads of a GPU's block; a thread that has a row.
int softmax_cross_entropy_lanes(const SoftmaxCrossEntropyContext &context) {
    const bool block = context.schedule == "block_per_row",
               thread = context.schedule == "thread_per_row";
    int lanes = block ? 256 : thread ? 1 : context.target.natural_vector_size<float>();
    Knobs knobs(context.knobs);
    if (!thread) knobs.take("lanes", lanes, block ? powers(16, 1024) : powers(1, 64));
    knobs.end();
    return lanes;
}

}  // namespace hk::schedules
