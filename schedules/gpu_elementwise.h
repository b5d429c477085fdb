#pragma once
// The loops of kernels that work element by element.

#include "schedules/elementwise.h"
#include "schedules/gpu_elements.h"

namespace hk::schedules::gpu {

// An element a thread, 128 or the knob `threads` of them a block. The tail is guarded, as on a CPU.
// Of packed tensors a thread's place is its element; else it is divided into x, y and z.
//
// thread_per_vector: 4 elements, one access of aligned tensors, and 256 threads. 8 of f16 or bf16
// would be two accesses: LLVM has no longer vectors of 16 bits. CUDA only: lanes of the tail are
// predicated, which Halide's OpenCL does not have.
inline void element_a_thread(Halide::Stage stage, const std::vector<Halide::Var> &dims,
                             const ElementwiseContext &context) {
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    const Halide::Var &x = dims[0], &y = dims[1], &z = dims[2];
    const Halide::Var block("block"), thread("thread"), lane("lane");
    if (!context.packed) stage.fuse(x, y, x).fuse(x, z, x);
    const bool vectors = context.schedule == "thread_per_vector";
    if (vectors) stage.split(x, x, lane, 4, guard).vectorize(lane);
    const int threads = threads_of(Knobs(context.knobs), vectors ? 256 : 128);
    stage.split(x, block, thread, threads, guard)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
    for (const Halide::Expr &one : context.cases) stage.specialize(one);
}

}  // namespace hk::schedules::gpu
