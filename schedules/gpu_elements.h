#pragma once
// The loops of kernels whose threads have an element, or a few, each.

#include <algorithm>

#include "generators/long_sum.h"
#include "schedules/schedule.h"

namespace hk::schedules::gpu {

// Fuses a Func's dimensions, the first innermost, to one that blocks are made of: only the first
// dimension of a grid may be longer than 65535. Each is split by 1 before: a Func computed at the
// inner loop of the first has the bounds of one element, where at a fused loop Halide would take
// all. Those of `tile` are split by more: its loops are inside all others.
inline void fuse_elements(Halide::Func f, const std::vector<Halide::Var> &dims,
                          const Halide::Var &fused,
                          const std::vector<std::pair<Halide::Var, int>> &tile = {}) {
    std::vector<Halide::VarOrRVar> order;
    std::vector<Halide::Var> outer;
    for (const auto &[dim, size] : tile) order.emplace_back(dim);
    for (const Halide::Var &dim : dims) {
        const auto sized = [&](const auto &of) { return of.first.name() == dim.name(); };
        const auto found = std::ranges::find_if(tile, sized);
        if (found == tile.end()) order.emplace_back(dim);
        outer.emplace_back(dim.name() + "s");
        f.split(dim, outer.back(), dim, found == tile.end() ? 1 : found->second,
                Halide::TailStrategy::GuardWithIf);
    }
    order.insert(order.end(), outer.begin(), outer.end());
    f.reorder(order).fuse(outer[0], outer[1], fused);
    for (size_t d = 2; d < outer.size(); d++) f.fuse(fused, outer[d], fused);
}

// Of a schedule's only knob, the threads of a block.
inline int threads_of(Knobs knobs, int threads = 128) {
    knobs.take("threads", threads, powers(32, 1024));
    knobs.end();
    return threads;
}

// An element a thread, or a tile of them, so many threads a block.
inline void element_a_thread(Halide::Func f, const std::vector<Halide::Var> &dims,
                             int threads = 128,
                             const std::vector<std::pair<Halide::Var, int>> &tile = {}) {
    const Halide::Var block("block"), thread("thread");
    fuse_elements(f, dims, block, tile);
    f.split(block, block, thread, threads, Halide::TailStrategy::GuardWithIf)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
}

// A sum in blocks for each element of `output`, in registers.
inline void add_up_in_thread(generators::BlockedSum &sums, Halide::Func &output,
                             const Halide::Var &innermost) {
    const Halide::RDom &blocks = sums.blocks, &d = sums.in_block;
    sums.running.compute_at(output, innermost).store_in(Halide::MemoryType::Register);
    sums.running.update().reorder(blocks.x, blocks.y, blocks.z).never_partition_all();
    sums.block_sum.compute_at(sums.running, blocks.x).store_in(Halide::MemoryType::Register);
    sums.block_sum.update().reorder(d.x, d.y, d.z).never_partition_all();
}

}  // namespace hk::schedules::gpu
