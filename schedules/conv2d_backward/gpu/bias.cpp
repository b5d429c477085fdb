#include <algorithm>

#include "schedules/conv2d_backward/conv2d_backward_bias.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr int kThreads = 64;  // of a block

// A block has one part of neighbouring filters, as many as its lanes leave threads for; `inside`
// are loops inside those of filters.
void blocks_of_parts(Func sums, const Conv2dBackwardBias &stages, int lanes,
                     const std::vector<VarOrRVar> &inside) {
    const Var block("block"), ko("ko"), go("go");
    std::vector<VarOrRVar> loops = inside;
    loops.insert(loops.end(), {k, g, ko, go, stages.part});
    sums.compute_root()
        .split(k, ko, k, std::max(kThreads / lanes, 1), guard)
        .split(g, go, g, 1)  // else Halide takes all groups for the bounds of one
        .reorder(loops)
        .fuse(go, stages.part, block)
        .fuse(ko, block, block)
        .gpu_blocks(block)
        .never_partition_all();
}

void add_up_in_registers(Conv2dBackwardBias &stages, const LoopLevel &thread) {
    stages.running.compute_at(thread).update().never_partition_all();
    stages.block_sum.compute_at(stages.running, stages.blocks.x)
        .update()
        .reorder(stages.in_block.x, stages.in_block.y)
        .never_partition_all();
    for (Func in_thread : {stages.running, stages.block_sum}) {
        in_thread.store_in(MemoryType::Register);
        for (const Var &one : {stages.lane, k, g, stages.part}) in_thread.bound_extent(one, 1);
    }
}

// A thread an element.
void spread(Func sums, const std::vector<Var> &dims) {
    const Var block("block"), thread("thread"), element("element");
    sums.fuse(dims[0], dims[1], element);
    for (size_t i = 2; i < dims.size(); i++) sums.fuse(element, dims[i], element);
    sums.compute_root()
        .split(element, block, thread, kThreads, guard)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
}

}  // namespace

// Two kernels: a thread sums up, in registers, one part of a filter (nhwc) or of one of its lanes
// (nchw), 64 threads a block, its neighbours what lies next to it in memory; then parts are added
// up. What lies between is 4 bytes a filter and part. Lanes pass through 264 bytes of shared memory
// and are added up by a thread a filter. Lost: sums in global memory, which take a kernel more for
// their zeros, and a load and a store for each element that is read.
void backward_bias_block_per_part(Conv2dBackwardBias &stages, const Conv2dSizes &context) {
    const int lanes = backward_bias_sums(context).lanes;
    blocks_of_parts(stages.folded, stages, lanes, {});
    stages.folded.gpu_threads(k);
    if (lanes > 1) {
        stages.partial.compute_at(stages.folded, Var("block"))
            .store_in(MemoryType::GPUShared)
            .bound_extent(k, std::max(kThreads / lanes, 1))
            .bound_extent(g, 1)
            .bound_extent(stages.part, 1)
            .align_storage(stages.lane, lanes + 1)  // a filter's begin in the bank after
            .gpu_threads(stages.lane, k);
        add_up_in_registers(stages, LoopLevel(stages.partial, stages.lane));
    } else {
        add_up_in_registers(stages, LoopLevel(stages.folded, k));
    }
    spread(stages.output, {k, g});
}

// The last rung of nchw: lanes pass through global memory, which is a kernel more, and sectors of
// which a thread reads 4 bytes: of f32 1.9 times the sectors of the other (counts --filter
// conv2d_backward_bias).
void backward_bias_thread_per_part(Conv2dBackwardBias &stages, const Conv2dSizes &context) {
    blocks_of_parts(stages.partial, stages, backward_bias_sums(context).lanes, {stages.lane});
    stages.partial.gpu_threads(stages.lane, k);
    add_up_in_registers(stages, LoopLevel(stages.partial, stages.lane));
    spread(stages.folded, {k, g, stages.part});
    spread(stages.output, {k, g});
}

}  // namespace hk::schedules::gpu
