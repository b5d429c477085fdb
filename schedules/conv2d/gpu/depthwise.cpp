#include "schedules/conv2d/conv2d.h"
#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// A thread computes four (nhwc) or two (nchw) outputs of one group; its neighbours compute the next
// groups (nhwc) or pixels (nchw) in memory. Nothing is staged: filters of any size, and the last
// rung.
void thread_per_group(Conv2dDepthwise &stages, const Conv2dContext &context) {
    GroupTiles tiles = context.nhwc ? GroupTiles{32, 8, 4, 4, 1} : GroupTiles{8, 8, 8, 1, 2};
    tiles.take(Knobs(context.knobs));
    const RDom &d = stages.r;
    compute_groups(stages.output, stages.sum, context.nhwc, tiles, {d.x, d.y});
}

namespace {

// A window, a group a thread: rows and columns are those of the threads and every so many from
// there, without a division.
void copy_window(Func window, const LoopLevel &at, int groups, int width, int height,
                 const std::vector<int> &threads) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var xs("xs"), ys("ys");
    window.compute_at(at)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({g, x, y, c, n})
        .bound_extent(g, groups)
        .bound_extent(x, width)
        .bound_extent(y, height)
        .bound_extent(c, 1)
        .bound_extent(n, 1)
        .split(x, xs, x, threads[1], guard)
        .split(y, ys, y, threads[2], guard)
        .reorder({xs, ys, c, n, g, x, y})
        .unroll(xs)
        .gpu_threads(g, x, y)
        .never_partition_all();
    // All loads are on their way at once, but for more than a thread has registers.
    const auto steps = [](int extent, int threads) { return (extent + threads - 1) / threads; };
    if (steps(width, threads[1]) * steps(height, threads[2]) <= 32) window.unroll(ys);
}

}  // namespace

// Of filters whose size and stride are known: a block copies its window of the input, which it
// compares with the image's bounds once an element, and its filters, which lie a whole filter apart
// from group to group in nhwc, to shared memory. A thread computes 4 x 4 pixels, of which
// neighbours share all but a few of the taps they read: a 3x3 filter loads 36 elements for 144
// multiply-adds. With a stride of two windows are four times as large, and tiles half as wide.
void tile_of_groups(Conv2dDepthwise &stages, const Conv2dContext &context) {
    const bool near = context.stride_x == 1 && context.stride_y == 1;
    const int taps = context.kernel_w * context.kernel_h;
    GroupTiles t = near ? GroupTiles{32, 16, 8, 4, 4} : GroupTiles{32, 8, taps > 9 ? 4 : 8, 4, 2};
    if (!context.nhwc) t = near ? GroupTiles{2, 32, 32, 1, 8} : GroupTiles{2, 32, 16, 1, 4};
    t.take(Knobs(context.knobs));
    const RDom &d = stages.r;
    compute_groups(stages.output, stages.sum, context.nhwc, t, {d.x, d.y});
    stages.sum.update().unroll(d.x);
    if (taps <= 25) stages.sum.update().unroll(d.y);  // else a thread loads more than it has registers
    stages.start.compute_at(stages.output, thread_of_groups(context.nhwc))
        .store_in(MemoryType::Register)
        .bound_extent(k, 1)
        .bound_extent(g, 1);

    const int width = (t.tile_x - 1) * context.stride_x + context.kernel_w,
              height = (t.tile_y - 1) * context.stride_y + context.kernel_h;
    Tiles::estimate_shared(t.tile_g * (width * height + taps));
    const LoopLevel block(stages.output, Var("block"));
    if (context.nhwc) {
        copy_window(stages.padded, block, t.tile_g, width, height, t.threads(true));
    } else {
        stages.padded.reorder_storage({x, y, g, c, n});
        cooperative_copy(stages.padded, block,
                         {{x, width}, {y, height}, {g, t.tile_g}, {n, 1}, {c, 1}},
                         t.threads(false));
    }
    cooperative_copy(stages.packed, block,
                     {{s, context.kernel_w}, {r, context.kernel_h}, {g, t.tile_g}},
                     t.threads(context.nhwc));
}

}  // namespace hk::schedules::gpu
