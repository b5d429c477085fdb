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

}  // namespace hk::schedules::gpu
