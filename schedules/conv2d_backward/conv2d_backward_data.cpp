#include "schedules/conv2d_backward/conv2d_backward_data.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
template<typename Stages, typename Context>
void root(Stages &, const Context &context) {
    Knobs(context.knobs).end();
}

}  // namespace

const Table<Conv2dBackwardData, Conv2dBackwardDataContext> &conv2d_backward_data_schedules() {
    static const Table<Conv2dBackwardData, Conv2dBackwardDataContext> table = {
        {"root", root},
        {"cpu", cpu::backward_data},
        {"cpu_phases", cpu::backward_data_phases},
        {"gpu_unstaged", gpu::backward_data_unstaged}};
    return table;
}

const Table<Conv2dBackwardDataSliced, Conv2dContext> &conv2d_backward_data_sliced_schedules() {
    static const Table<Conv2dBackwardDataSliced, Conv2dContext> table = {
        {"root", root}, {"gpu", gpu::backward_data_sliced}};
    return table;
}

}  // namespace hk::schedules
