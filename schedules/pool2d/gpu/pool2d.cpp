#include "schedules/pool2d/pool2d.h"

#include "schedules/gpu_elements.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// An element a thread, its window in a register; neighbours share what they read by the cache.
void pool2d_thread_per_element(Pool2d &stages, const Pool2dContext &context) {
    element_a_thread(stages.output, stages.output.args(), threads_of(Knobs(context.knobs)));
    const Var inner = context.nhwc ? c : x;
    if (stages.blocked.running.defined()) {
        add_up_in_thread(stages.blocked, stages.output, inner);
        return;
    }
    stages.folded.compute_at(stages.output, inner).store_in(MemoryType::Register);
    stages.folded.update().reorder(stages.r.x, stages.r.y).never_partition_all();
}

}  // namespace hk::schedules::gpu
