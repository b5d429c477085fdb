#include "schedules/conv2d_backward/conv2d_backward_weight.h"
#include "schedules/gpu_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

using namespace gpu;

DepthwiseRows backward_weight_rows(const Conv2dBackwardWeightContext &context) {
    DepthwiseRows size{2, 32, 8, 8, 528};
    size.vectors = context.nhwc;
    size.stride_x = context.stride_x;
    size.stride_y = context.stride_y;
    size.kernel_w = context.kernel_w;
    size.kernel_h = context.kernel_h;
    Knobs knobs(context.knobs);
    knobs.take("vector", size.vector, {1, 2, 4});
    knobs.take("groups", size.groups, {16, 32, 64});
    knobs.take("rows", size.rows, {1, 2, 4, 8, 16});
    knobs.take("columns", size.columns, {4, 8, 12, 16});
    knobs.take("blocks", size.blocks, {132, 264, 528, 1056, 2112});
    knobs.end();
    Tiles::estimate_shared(size.groups * size.window_w() * size.window_h());
    return size;
}

namespace gpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;
constexpr int kGroups = 32;  // that a block of the second kernel has

// Windows of the input, whose rows are every so many from that of the thread, and in nchw columns:
// without a division. A thread copies a vector of groups of all columns, or an element of all
// groups where columns are next to each other (nchw): rows of shared memory are two words longer
// then.
void copy_window(Conv2dBackwardWeightRows &stages, const DepthwiseRows &size, bool nhwc) {
    const Var xs("xs"), ys("ys"), go("go"), &lane = stages.lane, &column = stages.column,
                                            &line = stages.line;
    const int vectors = size.groups / size.vector;
    Func window = stages.window;
    window.compute_at(stages.sum, stages.r.y)
        .store_in(MemoryType::GPUShared)
        .reorder_storage({lane, g, column, line, x, y, n, stages.part})
        .bound_extent(lane, size.vector)
        .bound_extent(g, vectors)
        .bound_extent(column, size.window_w())
        .bound_extent(line, size.window_h())
        .split(line, ys, line, size.rows, guard);
    for (const Var &one : {x, y, n, stages.part}) window.bound_extent(one, 1);
    if (nhwc) {
        window.reorder({lane, column, ys, x, y, n, stages.part, g, line})
            .vectorize(lane)
            .unroll(column)
            .gpu_threads(g, line);
    } else {
        window.align_storage(g, vectors + 1)
            .split(column, xs, column, vectors, guard)
            .split(g, go, g, 4)
            .reorder({lane, g, go, xs, ys, x, y, n, stages.part, column, line})
            .unroll(lane)
            .unroll(g)
            .gpu_threads(column, line);
    }
    window.never_partition_all();
}

// Sums of all taps, of a vector of groups and a row a thread.
void sum_in_registers(Conv2dBackwardWeightRows &stages, const DepthwiseRows &size,
                      const LoopLevel &block) {
    const Var &lane = stages.lane, &row = stages.row, &part = stages.part;
    const RDom &d = stages.r;
    for (Func sums : {stages.sum, stages.shared_sum}) {
        sums.compute_at(block)
            .bound_extent(lane, size.vector)
            .bound_extent(g, size.groups / size.vector)
            .bound_extent(row, size.rows)
            .bound_extent(part, 1)
            .reorder(lane, s, r, part, g, row)
            .unroll(lane)
            .unroll(s)
            .unroll(r)
            .gpu_threads(g, row)
            .never_partition_all();
    }
    stages.sum.store_in(MemoryType::Register);
    stages.shared_sum.store_in(MemoryType::GPUShared);
    stages.sum.update()
        .reorder(lane, s, d.x, r, g, row, d.y, d.z, d.w, part)
        .unroll(lane)
        .unroll(s)
        .unroll(d.x)
        .unroll(r)
        .gpu_threads(g, row)
        .never_partition_all();
    stages.gradient.compute_at(stages.sum, g).bound_extent(stages.column, size.columns);
    if (size.vectors)
        stages.gradient.vectorize(lane);
    else
        stages.gradient.unroll(lane);
    stages.tap.compute_at(stages.sum, r)
        .bound_extent(stages.column, size.window_w())
        .bound_extent(r, 1)
        .unroll(lane);
    for (Func loaded : {stages.gradient, stages.tap}) {
        loaded.store_in(MemoryType::Register)
            .bound_extent(lane, size.vector)
            .reorder(lane, stages.column)
            .unroll(stages.column);
        for (const Var &one : {g, x, y, n, row, part}) loaded.bound_extent(one, 1);
    }
}

}  // namespace

// A block copies the windows that its rows meet to shared memory, zeros around the image with them,
// and has a row of the output a thread, with the sums of all taps of a vector of groups in
// registers. Of each line of a window it loads what its row meets once, for all of the tile's
// columns and taps: 14 elements for 56 multiply-adds of a 7x7 filter. Neighbours in a warp have the
// next groups. The rows' sums are added up in shared memory, and those of blocks by a second
// kernel.
void backward_weight_taps_in_registers(Conv2dBackwardWeightRows &stages,
                                       const Conv2dBackwardWeightContext &context) {
    const DepthwiseRows size = backward_weight_rows(context);
    const Var block("block"), go("go"), taps("taps"), po("po"), so("so"), ro("ro");
    const Var &lane = stages.lane, &row = stages.row, &part = stages.part;
    stages.output.split(g, go, g, kGroups, guard)
        .split(s, so, s, 1)  // else Halide takes all taps for the bounds of one
        .split(r, ro, r, 1)
        .reorder(s, r, g, go, so, ro, c, k)
        .fuse(go, so, block)
        .fuse(block, ro, block)
        .fuse(block, c, block)
        .fuse(block, k, block)
        .gpu_blocks(block)
        .gpu_threads(g)
        .never_partition_all();
    Func share = stages.share;
    share.compute_at(stages.output, block)
        .store_in(MemoryType::GPUShared)
        .bound_extent(g, kGroups)
        .bound_extent(s, 1)
        .bound_extent(r, 1)
        .bound_extent(stages.of_shares, DepthwiseRows::kShares);
    for (Stage stage : {Stage(share), share.update()})
        stage.reorder(g, stages.of_shares, s, r)
            .gpu_threads(g, stages.of_shares)
            .never_partition_all();
    share.update().reorder(stages.of.x, g, stages.of_shares, s, r);
    stages.partial.compute_root()
        .bound(lane, 0, size.vector)
        .bound(s, 0, size.kernel_w)
        .bound(r, 0, size.kernel_h)
        .split(g, go, g, size.groups / size.vector, guard)
        .fuse(s, r, taps)
        .split(taps, taps, row, size.rows, guard)
        .split(part, po, part, 1)
        .reorder(lane, taps, part, g, row, go, po)
        .vectorize(lane)
        .fuse(go, po, block)
        .gpu_blocks(block)
        .gpu_threads(g, row)
        .never_partition_all();
    sum_in_registers(stages, size, LoopLevel(stages.partial, block));
    copy_window(stages, size, context.nhwc);
}

}  // namespace gpu

}  // namespace hk::schedules
