#include "schedules/pool2d/pool2d_backward.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
void root(Pool2dBackward &, const Pool2dContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<Pool2dBackward, Pool2dContext> &pool2d_backward_schedules() {
    static const Table<Pool2dBackward, Pool2dContext> table = {
        {"root", root},
        {"cpu", cpu::pool2d_backward},
        {"cpu_by_rows", cpu::pool2d_backward_by_rows},
        {"cpu_in_blocks", cpu::pool2d_backward_in_blocks},
        {"gpu_unstaged", gpu::pool2d_backward}};
    return table;
}

}  // namespace hk::schedules
