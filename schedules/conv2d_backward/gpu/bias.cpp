#include "schedules/conv2d_backward/conv2d_backward_bias.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// Three kernels: a thread sums up, in a register, one part of a filter (nhwc) or of one of its
// lanes (nchw), 64 threads a block, its neighbours what lies next to it in memory; then lanes are
// added up, then parts. What lies between is 4 bytes a filter, part and lane. Lost: sums in global
// memory, which take a kernel more for their zeros, and a load and a store for each element that is
// read.
void backward_bias_thread_per_part(Conv2dBackwardBias &stages, const Conv2dSizes &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var block("block"), thread("thread"), element("element"), ko("ko"), go("go");
    const Var &lane = stages.lane, &part = stages.part;
    const RDom &d = stages.in_block;
    const auto spread = [&](Func sums, const std::vector<Var> &dims) {
        sums.fuse(dims[0], dims[1], element);
        for (size_t i = 2; i < dims.size(); i++) sums.fuse(element, dims[i], element);
        sums.split(element, block, thread, 64, guard)
            .gpu_blocks(block)
            .gpu_threads(thread)
            .never_partition_all();
    };
    const int lanes = backward_bias_sums(context).lanes;
    Func &sums = stages.partial;
    sums.compute_root()
        .split(k, ko, k, std::max(64 / lanes, 1), guard)
        .split(g, go, g, 1)  // else Halide takes all groups for the bounds of one
        .reorder(lane, k, g, ko, go, part)
        .fuse(go, part, block)
        .fuse(ko, block, block)
        .gpu_blocks(block)
        .gpu_threads(lane, k)
        .never_partition_all();
    stages.running.compute_at(sums, lane).update().never_partition_all();
    stages.block_sum.compute_at(stages.running, stages.blocks.x)
        .update()
        .reorder(d.x, d.y)
        .never_partition_all();
    for (Func in_thread : {stages.running, stages.block_sum}) {
        in_thread.store_in(MemoryType::Register);
        for (const Var &one : {lane, k, g, part}) in_thread.bound_extent(one, 1);
    }
    stages.folded.compute_root();
    spread(stages.folded, {k, g, part});
    spread(stages.output, {k, g});
}

}  // namespace hk::schedules::gpu
