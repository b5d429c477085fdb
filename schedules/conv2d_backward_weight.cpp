#include "schedules/conv2d_backward_weight.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
template<typename Stages>
void root(Stages &, const Conv2dBackwardWeightContext &) {}

}  // namespace

// A lane for each element of a vector of columns (nchw), one where vectors are of channels.
PartialSums backward_weight_sums(const Conv2dBackwardWeightContext &context) {
    const int vector = context.target.natural_vector_size<float>();
    return PartialSums{context.nhwc ? 1 : vector, 8}.with(context.knobs);
}

const Table<Conv2dBackwardWeight, Conv2dBackwardWeightContext> &conv2d_backward_weight_schedules() {
    static const Table<Conv2dBackwardWeight, Conv2dBackwardWeightContext> table = {
        {"root", root<Conv2dBackwardWeight>}, {"cpu", cpu::backward_weight}};
    return table;
}

const Table<Conv2dBackwardWeightSliced, Conv2dBackwardWeightContext>
    &conv2d_backward_weight_sliced_schedules() {
    static const Table<Conv2dBackwardWeightSliced, Conv2dBackwardWeightContext> table = {
        {"root", root<Conv2dBackwardWeightSliced>},
        {"gpu", gpu::backward_weight_staged},
        {"gpu_unstaged", gpu::backward_weight_unstaged}};
    return table;
}

}  // namespace hk::schedules
