#include "schedules/activation/activate_backward.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself.
void root(ActivateBackward &, const ElementwiseContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<ActivateBackward, ElementwiseContext> &activate_backward_schedules() {
    static const Table<ActivateBackward, ElementwiseContext> table = {
        {"root", root}, {"cpu", cpu::activate_backward}, {"gpu_unstaged", gpu::activate_backward}};
    return table;
}

}  // namespace hk::schedules
