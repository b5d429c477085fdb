#include "schedules/pool2d/pool2d.h"

#include "schedules/pool2d/gpu/tiles.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// An element a thread, its window in a register; neighbours share what they read by the cache.
void pool2d_thread_per_element(Pool2d &stages, const Pool2dContext &context) {
    element_a_thread(stages.output, stages.output.args(), threads_of(Knobs(context.knobs)));
    const Var inner = context.nhwc ? c : x;
    if (stages.blocked.running.defined()) {
        add_up_in_thread(stages.blocked, stages.output, inner);
        return;
    }
    stages.folded.compute_at(stages.output, inner).store_in(MemoryType::Register);
    stages.folded.update().reorder(stages.r.x, stages.r.y).never_partition_all();
}

// A tile of pixels a thread, whose windows are known and share what they read.
void pool2d_tile_per_thread(Pool2d &stages, const Pool2dContext &context) {
    need_known_windows(context);
    PixelTile tile = context.nhwc ? PixelTile{2, 4} : PixelTile{1, 8};
    tile.take(Knobs(context.knobs));
    tile_a_thread(stages.output, tile);
    keep_in_thread(stages.folded, stages.output, tile);
    unroll_update(stages.folded, stages.r);
    if (!stages.across.defined()) return;
    const int rows = (tile.y - 1) * context.Conv2dSizes::stride_y + context.kernel_h;
    keep_in_thread(stages.across, stages.output, {tile.x, rows});
    unroll_update(stages.across, stages.columns);
}

// Channels of an image a block, whose threads are also lanes: each adds up some of the pixels, and
// the first of a channel what they have, from shared memory.
void pool2d_block_of_lanes(Pool2d &stages, const Pool2dContext &context) {
    int channels = context.nhwc ? 32 : 16;
    Knobs knobs(context.knobs);
    knobs.take("channels", channels, powers(8, 64));
    knobs.end();
    const Var block("block"), first("first"), co("co");
    const auto innermost_first = [&](const Var &channel, const Var &lane) {
        return context.nhwc ? std::array{channel, lane} : std::array{lane, channel};
    };
    const std::array<Var, 2> threads = innermost_first(c, first);
    stages.output.split(c, co, c, channels, TailStrategy::GuardWithIf)
        .split(x, x, first, 1, TailStrategy::GuardWithIf)
        .reorder({x, y, g, threads[0], threads[1], co, n})
        .fuse(co, n, block)
        .gpu_blocks(block)
        .gpu_threads(threads[0], threads[1])
        .never_partition_all();
    stages.folded.compute_at(stages.output, threads[0]).store_in(MemoryType::Register);
    stages.folded.update().unroll(stages.lanes);
    const std::array<Var, 2> lanes = innermost_first(c, stages.lane);
    stages.of_lane.compute_at(stages.output, block)
        .store_in(MemoryType::GPUShared)
        .bound_extent(c, channels)
        .bound_extent(g, 1)
        .bound_extent(n, 1)
        .reorder(lanes[0], lanes[1], g, n)
        .reorder_storage(lanes[0], lanes[1], g, n)
        .gpu_threads(lanes[0], lanes[1])
        .never_partition_all();
    stages.part.compute_at(stages.of_lane, lanes[0]).store_in(MemoryType::Register);
    for (const Var &one : {stages.lane, c, g, n}) stages.part.bound_extent(one, 1);
    stages.part.update().reorder(stages.r.x, stages.r.y).never_partition_all();
}

}  // namespace hk::schedules::gpu
