#include "schedules/conv2d_backward_bias.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
void root(Conv2dBackwardBias &, const Conv2dBackwardBiasContext &context) {
    partial_sums(context);
}

}  // namespace

PartialSums backward_bias_sums(const Conv2dBackwardBiasContext &context) { return partial_sums(context); }

const Table<Conv2dBackwardBias, Conv2dBackwardBiasContext> &conv2d_backward_bias_schedules() {
    static const Table<Conv2dBackwardBias, Conv2dBackwardBiasContext> table = {
        {"root", root}, {"cpu", cpu::backward_bias}};
    return table;
}

}  // namespace hk::schedules
