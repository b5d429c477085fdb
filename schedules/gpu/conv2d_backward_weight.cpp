#include "schedules/conv2d_backward_weight.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// A thread computes one element, in one part; its neighbours are other channels, filters and
// groups, which share the output's gradient or the input. Dimensions of a grid that are fused are
// split by one, else Halide takes all of them for the bounds of one.
void backward_weight_unstaged(Conv2dBackwardWeight &stages, const Conv2dBackwardWeightContext &) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var co("co"), ct("ct"), ko("ko"), kt("kt"), go("go"), gt("gt"), so("so"), ro("ro"),
        block("block");
    const RDom &d = stages.r;
    stages.output.split(c, co, ct, 8, guard)
        .split(k, ko, kt, 4, guard)
        .split(g, go, gt, 4, guard)
        .split(s, so, s, 1)
        .split(r, ro, r, 1)
        .reorder({ct, kt, gt, s, r, co, so, ro, ko, go})
        .fuse(ko, go, block)
        .fuse(ro, block, block)
        .fuse(so, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(ct, kt, gt)
        .never_partition_all();
    stages.partial.compute_at(stages.output, ct)
        .store_in(MemoryType::Register)
        .update()
        .reorder(d.x, d.y)
        .never_partition_all();
    for (const Var &one : {stages.lane, c, s, r, k, g, stages.part})
        stages.partial.bound_extent(one, 1);
}

}  // namespace hk::schedules::gpu
