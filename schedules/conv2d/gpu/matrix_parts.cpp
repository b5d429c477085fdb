#include "schedules/conv2d/gpu/matrices.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// A thread's, one after the other: it is short of code, too (compiler/turned_registers.h).
void activate_joined(Conv2dSliced &stages) {
    const Var turns("turns");
    if (stages.smooth.defined())
        stages.joined.update(1).rename(k, turns).reorder(turns, stages.smooth.x);
}

// Of images in rows: a thread has eight output channels of a pixel, its neighbours those of the
// next pixels.
Stage finish_parts_in_rows(Conv2dSliced &stages, PartBlocks &blocks) {
    constexpr int threads_k = 4, threads_x = 8, threads_y = 4;
    const int of_lane = channels_of_lane(stages.filter.type());
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var k8("k8"), ki("ki"), ko("ko"), kt("kt"), xo("xo"), xt("xt"), yo("yo"), yt("yt"),
        go("go"), block("block");
    stages.output.split(k, k8, ki, of_lane, guard)
        .split(k8, ko, kt, threads_k, guard)
        .split(x, xo, xt, threads_x, guard)
        .split(y, yo, yt, threads_y, guard)
        .split(g, go, g, 1)
        .reorder({ki, xt, yt, kt, g, ko, xo, yo, go, n})
        .fuse(go, n, block)
        .fuse(yo, block, block)
        .fuse(xo, block, block)
        .fuse(ko, block, block)
        .gpu_blocks(block)
        .gpu_threads(xt, yt, kt)
        .unroll(ki)
        .never_partition_all();
    stages.joined.compute_at(stages.output, xt)
        .store_in(MemoryType::Register)
        .bound_extent(k, of_lane)
        .unroll(k);
    stages.joined.update().reorder(k, stages.of).unroll(k).never_partition_all();
    activate_joined(stages);
    blocks = {
        LoopLevel(stages.output, block), threads_k * of_lane, {threads_x, threads_y, threads_k}};
    return Stage(stages.output);
}

}  // namespace

Stage finish_parts(Conv2dSliced &stages, PartBlocks &blocks) {
    if (stages.in_rows) return finish_parts_in_rows(stages, blocks);
    constexpr int lanes = 16, pixels = 8;
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var k4("k4"), ki("ki"), ko("ko"), kt("kt"), xo("xo"), xt("xt"), yo("yo"), go("go"),
        block("block");
    stages.output.split(k, k4, ki, kPartVector, TailStrategy::RoundUp)
        .split(k4, ko, kt, lanes, guard)
        .split(x, xo, xt, pixels, guard)
        .split(y, yo, y, 1)
        .split(g, go, g, 1)
        .reorder({ki, kt, xt, g, y, ko, go, xo, yo, n})
        .fuse(yo, n, block)
        .fuse(xo, block, block)
        .fuse(go, block, block)
        .fuse(ko, block, block)
        .gpu_blocks(block)
        .gpu_threads(kt, xt)
        .vectorize(ki)
        .never_partition_all();
    stages.joined.compute_at(stages.output, kt)
        .store_in(MemoryType::Register)
        .bound_extent(k, kPartVector)
        .vectorize(k);
    stages.joined.update().reorder(k, stages.of).vectorize(k).never_partition_all();
    activate_joined(stages);
    blocks = {LoopLevel(stages.output, block), lanes * kPartVector, {lanes, pixels, 1}};
    return Stage(stages.output);
}

}  // namespace hk::schedules::gpu
