#include "schedules/activation/activate.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself.
void root(Activate &, const ElementwiseContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<Activate, ElementwiseContext> &activate_schedules() {
    static const Table<Activate, ElementwiseContext> table = {
        {"root", root}, {"cpu", cpu::activate}, {"gpu_unstaged", gpu::activate}};
    return table;
}

}  // namespace hk::schedules
