#include "schedules/quantized_conv2d/gpu/correct.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr int kLanes = 32;  // threads that share a sum

// A sum over bytes, of which a warp's threads read neighbours. A block has so many neighbours in
// `tiled`, which the first threads of one warp finish.
void sum_by_warps(Func sum, const Var &tiled, int sums, const RVar &channel) {
    const RVar channels("channels"), rlane("rlane");
    const Var lane("lane"), block("block"), thread("thread"), outer("outer");
    Func of_lane = sum.update().split(channel, channels, rlane, kLanes, guard).rfactor(rlane, lane);
    Func stored = sum.in(), of_lanes = of_lane.in();

    // Else Halide takes the whole of a dimension for one.
    std::vector<VarOrRVar> loops;
    Var blocks = block;
    stored.split(tiled, blocks, thread, sums, guard);
    std::vector<Var> others;
    for (const Var &dim : sum.args()) {
        if (dim.name() == tiled.name()) continue;
        others.emplace_back();
        stored.split(dim, others.back(), dim, 1);
        loops.emplace_back(dim);
    }
    const Var one = sum.args()[sum.args()[0].name() == tiled.name() ? 1 : 0];
    loops.emplace(loops.begin(), thread);
    loops.emplace_back(blocks);
    for (const Var &other : others) loops.emplace_back(other);
    stored.compute_root().reorder(loops);
    for (const Var &other : others) stored.fuse(blocks, other, blocks);
    stored.gpu_blocks(blocks).gpu_threads(thread, one).never_partition_all();
    sum.compute_at(stored, thread).store_in(MemoryType::Register);
    for (const Var &dim : sum.args()) sum.bound_extent(dim, 1);
    sum.update().never_partition_all();

    of_lanes.compute_at(stored, blocks)
        .store_in(MemoryType::GPUShared)
        .reorder_storage(lane, tiled)
        .align_storage(lane, kLanes + 1)
        .reorder(lane, tiled)
        .bound_extent(lane, kLanes)
        .bound_extent(tiled, sums)
        .gpu_threads(lane, tiled)
        .never_partition_all();
    of_lane.compute_at(of_lanes, lane).store_in(MemoryType::Register);
    of_lane.update().never_partition_all();
}

}  // namespace

void correct(QuantizedConv2dEnds &stages, const QuantizedConv2dContext &context) {
    if (!context.integer) return;
    // Filters are few, and pixels many.
    sum_by_warps(stages.filter_sum, k, 2, stages.filter_r.x);
    sum_by_warps(stages.window_sum, x, 8, stages.window_r.x);
}

}  // namespace hk::schedules::gpu
