#include "schedules/pool2d/pool2d_backward.h"

#include "schedules/pool2d/gpu/tiles.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// What there is of each window, its first maximum or its share, is computed once, an element a
// thread, and kept in 4 bytes of global memory; then elements of a column a thread, which looks at
// that of their windows. Lost: windows that each of their pixels looks at itself, which take ten
// times as long on an H100's model for 5x5 with a stride of 1 (counts --family pool2d_backward
// --list pooling=max,input=8x20x20x256,kernel=5,stride=1,padding=2).
void pool2d_backward_column_per_thread(Pool2dBackward &stages, const Pool2dContext &context) {
    const Var element = column_a_thread(stages.output, Knobs(context.knobs));
    add_up_in_thread(stages.blocked, stages.output, element);
    const std::vector<Var> near_first =
        context.nhwc ? std::vector{c, g, x, y, n} : std::vector{x, y, c, g, n};
    stages.window.compute_root().reorder_storage(near_first);
    element_a_thread(stages.window, near_first);
    if (!stages.r.defined()) return;
    stages.first_best.compute_at(stages.window, near_first[0]).store_in(MemoryType::Register);
    for (const Var &one : near_first) stages.first_best.bound_extent(one, 1);
    stages.first_best.update().reorder(stages.r.x, stages.r.y).never_partition_all();
}

// A tile of pixels a thread, and the windows that hold them, of which the compiler drops those that
// hold none: how many there are beside each other depends on the padding.
void pool2d_backward_tile_per_thread(Pool2dBackward &stages, const Pool2dContext &context) {
    PixelTile tile = stages.r.defined() || context.nhwc ? PixelTile{2, 4} : PixelTile{1, 8};
    tile.take(Knobs(context.knobs));
    tile_a_thread(stages.output, tile);
    if (stages.share.defined()) return;
    need_known_windows(context);
    const Func &out = stages.output;
    const Conv2dSizes &sizes = context;
    const auto windows = [](int pixels, int kernel, int stride) {
        return (pixels + stride - 2) / stride + (kernel + stride - 1) / stride;
    };
    const PixelTile held{windows(tile.x, sizes.kernel_w, sizes.stride_x),
                         windows(tile.y, sizes.kernel_h, sizes.stride_y)};
    const RDom &w = stages.w, &r = stages.r;
    keep_in_thread(stages.sum, out, tile);
    unroll_update(stages.sum, w);
    keep_in_thread(stages.given, out, held);
    if (stages.across.defined()) {
        for (const Func &rows : {stages.across, stages.dense})
            keep_in_thread(rows, out, {tile.x, held.y});
        unroll_update(stages.across, stages.taps);
        return;
    }
    keep_in_thread(stages.window, out, held);
    unroll_update(stages.window, r);
    keep_in_thread(stages.limit, out, held);
    keep_in_thread(stages.around, out,
                   {(held.x - 1) * sizes.stride_x + sizes.kernel_w,
                    (held.y - 1) * sizes.stride_y + sizes.kernel_h});
}

}  // namespace hk::schedules::gpu
