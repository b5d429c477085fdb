#include "schedules/conv2d_backward_data.h"
#include "schedules/gpu/block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

// A thread computes one element, whose phase is its own: several pixels of a thread would have as
// many phases, the number of which is an argument. Its neighbours are neighbours in memory.
void backward_data_unstaged(Conv2dBackwardData &stages, const Conv2dBackwardDataContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    int tile_c = context.nhwc ? 16 : 1, tile_x = context.nhwc ? 8 : 32,
        tile_y = context.nhwc ? 1 : 4;
    Knobs knobs(context.knobs);
    knobs.take("tile_c", tile_c);
    knobs.take("tile_x", tile_x);
    knobs.take("tile_y", tile_y);
    knobs.end();
    const Var co("co"), ct("ct"), xo("xo"), xt("xt"), yo("yo"), yt("yt"), go("go"), block("block");
    const std::vector<Var> threads = innermost_first(context.nhwc, ct, xt, yt);
    const RDom &d = stages.r;
    stages.output.split(c, co, ct, tile_c, guard)
        .split(x, xo, xt, tile_x, guard)
        .split(y, yo, yt, tile_y, guard)
        .split(g, go, g, 1)  // else Halide takes all groups for the bounds of one
        .reorder(threads[0], threads[1], threads[2], g, co, xo, yo, go, n)
        .fuse(go, n, block)
        .fuse(yo, block, block)
        .fuse(xo, block, block)
        .fuse(co, block, block)
        .gpu_blocks(block)
        .gpu_threads(threads[0], threads[1], threads[2])
        .never_partition_all();
    stages.sum.compute_at(stages.output, threads[0]).store_in(MemoryType::Register);
    for (const Var &one : {c, g, x, y, stages.px, stages.py, n}) stages.sum.bound_extent(one, 1);
    stages.sum.update().reorder(d.x, d.y, d.z).never_partition_all();
}

}  // namespace hk::schedules::gpu
