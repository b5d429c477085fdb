#include "schedules/softmax_cross_entropy/softmax_cross_entropy.h"

using namespace hk::generators;

namespace hk::schedules {

// A CPU's vector; the threads of a GPU's block; a thread that has a row.
int softmax_cross_entropy_lanes(const SoftmaxCrossEntropyContext &context) {
    const bool gpu = context.schedule == "gpu", unstaged = context.schedule == "gpu_unstaged";
    int lanes = gpu ? 256 : unstaged ? 1 : context.target.natural_vector_size<float>();
    Knobs knobs(context.knobs);
    if (!unstaged) knobs.take("lanes", lanes, gpu ? powers(16, 1024) : powers(1, 64));
    knobs.end();
    return lanes;
}

}  // namespace hk::schedules
