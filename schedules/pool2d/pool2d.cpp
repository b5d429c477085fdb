#include "schedules/pool2d/pool2d.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: every element by itself, nothing stored in between.
void root(Pool2d &, const Pool2dContext &context) { Knobs(context.knobs).end(); }

}  // namespace

const Table<Pool2d, Pool2dContext> &pool2d_schedules() {
    static const Table<Pool2d, Pool2dContext> table = {{"root", root},
                                                       {"cpu", cpu::pool2d},
                                                       {"cpu_by_rows", cpu::pool2d_by_rows},
                                                       {"cpu_in_blocks", cpu::pool2d_in_blocks},
                                                       {"gpu_unstaged", gpu::pool2d}};
    return table;
}

}  // namespace hk::schedules
