#pragma once
// Sums by lanes in kernels of group normalisation, and the loops of threads that have a group each.

#include "generators/group_norm/group_norm.h"

namespace hk::schedules::gpu {

// A group a thread, `inside` its loops; blocks are in one dimension of the grid, the others of
// which end at 65535.
inline void threads_of_groups(Halide::Func out, std::vector<Halide::VarOrRVar> inside) {
    using generators::g, generators::n;
    const Halide::Var block("block"), no("no"), go("go");
    inside.insert(inside.end(), {n, g, no, go});
    out.compute_root()
        .split(n, no, n, 64, Halide::TailStrategy::GuardWithIf)
        .split(g, go, g, 1)
        .reorder(inside)
        .fuse(no, go, block)
        .gpu_blocks(block)
        .gpu_threads(n)
        .never_partition_all();
}

// What a thread adds up, in registers.
inline void in_registers(generators::LaneSums &sums, Halide::Func at, const Halide::Var &loop) {
    sums.running.compute_at(at, loop)
        .store_in(Halide::MemoryType::Register)
        .bound_extent(sums.lane, 1)
        .update()
        .reorder(sums.blocks.x, sums.blocks.y, sums.blocks.z)
        .never_partition_all();
    sums.block_sum.compute_at(sums.running, sums.blocks.x)
        .store_in(Halide::MemoryType::Register)
        .bound_extent(sums.lane, 1)
        .update()
        .reorder(sums.in_block.x, sums.in_block.y, sums.in_block.z)
        .never_partition_all();
}

// A group's, of a thread.
inline void of_thread(Halide::Func f, Halide::Func at, const Halide::Var &loop) {
    f.compute_at(at, loop)
        .store_in(Halide::MemoryType::Register)
        .bound_extent(generators::n, 1)
        .bound_extent(generators::g, 1);
}

}  // namespace hk::schedules::gpu
