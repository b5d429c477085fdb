#pragma once
// The loops of kernels that work element by element.

#include "schedules/elementwise.h"

namespace hk::schedules::gpu {

// An element a thread, 128 of them a block. The tail is guarded, as on a CPU.
inline void element_a_thread(Halide::Stage stage, const std::vector<Halide::Var> &dims,
                             const ElementwiseContext &context) {
    const Halide::Var element("element"), block("block"), thread("thread");
    stage.fuse(dims[0], dims[1], element)
        .fuse(element, dims[2], element)
        .split(element, block, thread, 128, Halide::TailStrategy::GuardWithIf)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
    for (const Halide::Expr &one : context.cases) stage.specialize(one);
}

}  // namespace hk::schedules::gpu
