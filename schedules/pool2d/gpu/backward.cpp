#include "schedules/pool2d/pool2d_backward.h"

#include "schedules/gpu_elements.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// An element a thread, which looks at its windows itself: neighbours share what they read by the
// cache, and there is no memory beside the tensors.
void pool2d_backward_thread_per_element(Pool2dBackward &stages, const Pool2dContext &context) {
    element_a_thread(stages.output, stages.output.args(), threads_of(Knobs(context.knobs)));
    const Var inner = context.nhwc ? c : x;
    add_up_in_thread(stages.blocked, stages.output, inner);
    if (!stages.r.defined()) return;
    stages.first_best.compute_at(stages.blocked.block_sum, stages.blocked.in_block.x)
        .store_in(MemoryType::Register);
    for (const Var &one : {c, g, x, y, n}) stages.first_best.bound_extent(one, 1);
    stages.first_best.update().reorder(stages.r.x, stages.r.y).never_partition_all();
}

}  // namespace hk::schedules::gpu
