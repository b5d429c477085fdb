#pragma once
// Sums by lanes in kernels of group normalisation, and their blocks.

#include "generators/group_norm/group_norm.h"

namespace hk::schedules::gpu {

// Blocks for slices of `count` images, or blocks of images: only the first dimension of a grid may
// be longer than 65535. Loops are not fused, as of two loops that are computed together Halide then
// takes all slices for the bounds of one.
inline void blocks_of_slices(Halide::Func f, const Halide::Var &images, const Halide::Expr &count) {
    const Halide::Var row("row"), rows("rows");
    f.split(images, rows, row, clamp(count, 1, 1 << 15), Halide::TailStrategy::GuardWithIf)
        .gpu_blocks(generators::g, row, rows)
        .never_partition_all();
}

// A group a thread, `inside` its loops.
inline void threads_of_groups(Halide::Func out, std::vector<Halide::VarOrRVar> inside,
                              const Halide::Expr &batch) {
    const Halide::Var block("block");
    inside.insert(inside.end(), {generators::n, generators::g, block});
    out.compute_root()
        .split(generators::n, block, generators::n, 64, Halide::TailStrategy::GuardWithIf)
        .reorder(inside)
        .gpu_threads(generators::n);
    blocks_of_slices(out, block, (batch + 63) / 64);
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
