#include "schedules/conv2d_backward_weight.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
void root(Conv2dBackwardWeight &, const Conv2dBackwardWeightContext &) {}

}  // namespace

// CPU: a lane for each element of a vector of columns (nchw), one where vectors are of channels.
// GPU, unstaged: one part. Parts of a thread become local memory (a stack frame of 4 bytes each),
// and in global memory they would be scratch space of as many times the weight.
PartialSums backward_weight_sums(const Conv2dBackwardWeightContext &context) {
    const int vector = context.target.natural_vector_size<float>();
    const bool gpu = context.schedule == "gpu_unstaged";
    const PartialSums sums = gpu ? PartialSums{1, 1} : PartialSums{context.nhwc ? 1 : vector, 8};
    return sums.with(context.knobs);
}

const Table<Conv2dBackwardWeight, Conv2dBackwardWeightContext> &conv2d_backward_weight_schedules() {
    static const Table<Conv2dBackwardWeight, Conv2dBackwardWeightContext> table = {
        {"root", root},
        {"cpu", cpu::backward_weight},
        {"gpu_unstaged", gpu::backward_weight_unstaged}};
    return table;
}

}  // namespace hk::schedules
