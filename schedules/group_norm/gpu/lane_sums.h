#pragma once
// Sums by lanes in kernels of group normalisation, and their blocks.

#include "schedules/group_norm/group_norm.h"

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
    using namespace Halide;
    const auto in_register = [&](Func sum, const LoopLevel &level, const RDom &r) {
        sum.compute_at(level)
            .store_in(MemoryType::Register)
            .bound_extent(sums.lane, 1)
            .update()
            .reorder(r.x, r.y, r.z)
            .never_partition_all();
    };
    const LoopLevel thread(at, loop);
    if (sums.is_long) in_register(sums.running, thread, sums.blocks);
    in_register(sums.block_sum, sums.is_long ? LoopLevel(sums.running, sums.blocks.x) : thread,
                sums.in_block);
}

// A group's, of a thread.
inline void of_thread(Halide::Func f, Halide::Func at, const Halide::Var &loop) {
    f.compute_at(at, loop)
        .store_in(Halide::MemoryType::Register)
        .bound_extent(generators::n, 1)
        .bound_extent(generators::g, 1);
}

// Lanes are threads of the block, which put their sums into shared memory.
inline void in_threads(generators::LaneSums &sums, Halide::Func at, const Halide::Var &loop) {
    sums.of_lane.compute_at(at, loop)
        .store_in(Halide::MemoryType::GPUShared)
        .bound_extent(generators::n, 1)
        .bound_extent(generators::g, 1)
        .gpu_threads(sums.lane)
        .never_partition_all();
    in_registers(sums, sums.of_lane, sums.lane);
    sums.folded.compute_at(at, loop)
        .store_in(Halide::MemoryType::GPUShared)
        .bound_extent(generators::n, 1)
        .bound_extent(generators::g, 1)
        .gpu_threads(sums.lane)
        .never_partition_all();
}

inline void of_block(Halide::Func f, Halide::Func at, const Halide::Var &loop) {
    f.compute_at(at, loop)
        .store_in(Halide::MemoryType::GPUShared)
        .bound_extent(generators::n, 1)
        .bound_extent(generators::g, 1);
}

// What a thread has of a row, so many pixels of a channel, loaded before any of it is stored.
template<typename Stages>
void load_together(Stages &stages, Halide::Func out, const Halide::Var &loop, int together) {
    using generators::c, generators::g, generators::n, generators::x, generators::y;
    for (Halide::Func one : {stages.loaded, stages.of_channel}) {
        one.compute_at(out, loop).store_in(Halide::MemoryType::Register);
        for (const Halide::Var &of : {c, g, n}) one.bound_extent(of, 1);
    }
    stages.loaded.bound_extent(y, 1).bound_extent(x, together).unroll(x);
}

// What channels have of their group, (c, group, g, n): a block a group, whose sums are over parts.
inline void factors_of_groups(Halide::Func factors,
                              std::initializer_list<generators::LaneSums *> sums,
                              Halide::Func of_group, const GroupNormContext &context) {
    using generators::c, generators::g, generators::group, generators::n;
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    const Halide::Var round("round"), thread("thread"), group_o("group_o"), no("no"),
        block("block");
    factors.compute_root()
        .bound(c, 0, context.channels / context.groups)
        .bound(group, 0, context.groups)
        .bound(g, 0, context.slices)
        .bound(n, 0, context.batch)
        .split(c, round, thread, 256, guard)
        .split(group, group_o, group, 1)
        .split(n, no, n, 1)
        .reorder(round, thread, group, n, group_o, no, g)
        .fuse(group_o, no, block)
        .gpu_blocks(block, g)
        .gpu_threads(thread)
        .never_partition_all();
    for (generators::LaneSums *one : sums) {
        in_threads(*one, factors, block);
        for (Halide::Func f : {one->of_lane, one->folded}) f.bound_extent(group, 1);
    }
    of_block(of_group, factors, block);
    of_group.bound_extent(group, 1);
}

}  // namespace hk::schedules::gpu
