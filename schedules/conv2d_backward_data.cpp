#include "schedules/conv2d_backward_data.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
void root(Conv2dBackwardData &, const Conv2dBackwardDataContext &context) {
    Knobs(context.knobs).end();
}

}  // namespace

const Table<Conv2dBackwardData, Conv2dBackwardDataContext> &conv2d_backward_data_schedules() {
    static const Table<Conv2dBackwardData, Conv2dBackwardDataContext> table = {
        {"root", root}, {"cpu", cpu::backward_data}, {"gpu_unstaged", gpu::backward_data_unstaged}};
    return table;
}

}  // namespace hk::schedules
