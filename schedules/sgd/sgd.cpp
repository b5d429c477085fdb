#include "schedules/sgd/sgd.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself.
void root(Sgd &, const ElementwiseContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<Sgd, ElementwiseContext> &sgd_schedules() {
    static const Table<Sgd, ElementwiseContext> table = {
        {"root", root}, {"cpu", cpu::sgd}, {"gpu_unstaged", gpu::sgd}};
    return table;
}

}  // namespace hk::schedules
