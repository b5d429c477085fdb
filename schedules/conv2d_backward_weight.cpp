#include "schedules/conv2d_backward_weight.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
void root(Conv2dBackwardWeight &, const Conv2dBackwardWeightContext &) {}

}  // namespace

const Table<Conv2dBackwardWeight, Conv2dBackwardWeightContext> &conv2d_backward_weight_schedules() {
    static const Table<Conv2dBackwardWeight, Conv2dBackwardWeightContext> table = {
        {"root", root}, {"cpu", cpu::backward_weight}};
    return table;
}

}  // namespace hk::schedules
