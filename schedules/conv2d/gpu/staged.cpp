#include "schedules/conv2d/gpu/staged.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

using namespace gpu;

namespace {

bool pointwise(const Conv2dContext &context) {
    return context.kernel_w == 1 && context.kernel_h == 1;
}

// All taps of a slice are unrolled over one staged window of the input.
bool windowed(const Conv2dContext &context) {
    return context.kernel_w > 0 && context.kernel_h > 0 && !pointwise(context) &&
           context.stride_x == 1 && context.stride_y == 1 && context.dilation_x == 1 &&
           context.dilation_y == 1;
}

Tiles unstaged_tiles(const Conv2dContext &context) {
    Tiles tiles = context.nhwc ? Tiles{16, 32, 1, 1, 8, 16, 1} : Tiles{8, 16, 4, 1, 4, 8, 4};
    Knobs knobs(context.knobs);
    tiles.take(knobs, false);
    knobs.end();
    return tiles;
}

// The filter's and the input's part of a step of the sum, copied so that neighbouring threads
// read neighbouring addresses.
void stage_operands(Conv2dSliced &stages, const Conv2dContext &context, const Tiles &t,
                    const LoopLevel &step, const std::vector<int> &threads) {
    const int taps_x = windowed(context) ? context.kernel_w : 1;
    const int taps_y = windowed(context) ? context.kernel_h : 1;
    stages.filter.reorder_storage(k, c, s, r, g).align_storage(k, t.tile_k + 4);
    std::pair<Var, int> near = {c, t.tile_c}, far = {k, t.tile_k};
    if (context.filters_inner) std::swap(near, far);
    if (context.nhwc)
        cooperative_copy(stages.filter, step, {near, {s, taps_x}, {r, taps_y}, far, {g, 1}},
                         threads);
    else
        cooperative_copy(stages.filter, step, {{s, taps_x}, {r, taps_y}, near, far, {g, 1}},
                         threads);

    Func &image = windowed(context) ? stages.padded : stages.tap;
    const int width = t.tile_x + taps_x - 1, height = t.tile_y + taps_y - 1;
    std::vector<std::pair<Var, int>> extents = {
        {c, t.tile_c}, {g, 1}, {x, width}, {y, height}, {n, 1}};
    if (!context.nhwc) extents = {{x, width}, {y, height}, {c, t.tile_c}, {g, 1}, {n, 1}};
    // Where a step of the sum is not unrolled pixels are neighbours, a vector of a thread; else
    // channels.
    const bool pixels = !context.nhwc || (!windowed(context) && t.sums() > 16);
    if (pixels) image.reorder_storage({x, y, c, g, n});
    if (context.nhwc && pixels) image.align_storage(x, width + 4);
    if (!windowed(context)) extents.insert(extents.end(), {{s, 1}, {r, 1}});
    cooperative_copy(image, step, extents, threads);
}

}  // namespace

int sliced_tile(const Conv2dContext &context) {
    return context.schedule == "staged" ? staged_tiles(context).tile_c : 1;
}

namespace gpu {

Tiles staged_tiles(const Conv2dContext &context) {
    Tiles tiles =
        pointwise(context) ? Tiles{64, 64, 1, 8, 16, 16, 1} : Tiles{64, 8, 8, 8, 16, 4, 4};
    // Neighbouring threads write neighbouring addresses: k in nhwc, x in nchw, 32 bytes at least.
    if (!context.nhwc && !pointwise(context)) {
        tiles.threads_x = 8;
        tiles.threads_y = 2;
    }
    Knobs knobs(context.knobs);
    tiles.take(knobs, true);
    knobs.end();
    const int taps_x = windowed(context) ? context.kernel_w : 1;
    const int taps_y = windowed(context) ? context.kernel_h : 1;
    const int image = (tiles.tile_x + taps_x - 1) * (tiles.tile_y + taps_y - 1);
    Tiles::estimate_shared(tiles.tile_c * (taps_x * taps_y * (tiles.tile_k + 4) + image));
    return tiles;
}

void sum_slices(Conv2dSliced &stages, const Conv2dContext &context, const Block &block,
                bool taps_outside) {
    const Tiles &t = block.tiles();
    const RDom &d = stages.r;
    block.hold(stages.sum, stages.output);
    std::vector<VarOrRVar> inside = {d.x}, around = {d.y, d.z, d.w};
    if (windowed(context)) {
        inside = {d.y, d.z, d.x};
        around = {d.w};
    } else if (taps_outside) {
        around = {d.w, d.y, d.z};
    }
    Stage update = stages.sum.update();
    block.accumulate(update, inside, around);
    if (!windowed(context)) {
        if (t.sums() <= 16)
            update.unroll(d.x);
        else
            update.unroll(d.x, 2);
    } else {
        if (t.sums() <= 32) update.unroll(d.y);
        if (t.sums() <= 16) update.unroll(d.z);
    }
    stage_operands(stages, context, t, LoopLevel(stages.sum, around[0]), block.threads());
}

// One block computes 64 channels at 64 pixels, 16 sums a thread in registers, while slices of eight
// input channels of the filter and the input pass through shared memory, whose size is a constant
// whatever the problem is. 1x1 filters take 64 pixels of a row, all others 8 x 8. The next
// slice is on its way while one is summed, where a thread has registers for it
// (compiler/fetch_ahead.h).
//
// any, 1x1: a tap at a time. 4 * 8 * (68 + 64) = 4224 shared bytes; 128 FMAs a thread to 16 loads
// of four floats from them.
// 3x3 of stride and dilation 1: nine taps of a slice at a time, over one window of the input.
// 4 * 8 * (9 * 68 + 10 * 10) = 22784 bytes; 144 FMAs a thread and channel to 25 loads, and the
// input comes from global memory 100/64 times instead of nine. Rows of the filter are 68 floats:
// neither the copy (neighbours differ in c) nor the sum (in k) meets in a bank, and vectors of four
// stay aligned. Slices of four channels (3x3_small) take half the bytes, for twice the barriers.
// 3x3_large, of gradients, 128 channels at 128 pixels: 64 sums a thread, 64 FMAs to 16 loads of a
// float, which only one tap is unrolled for. 4 * 8 * (9 * 132 + 18 * 10) = 43776 bytes. few: 16
// channels at 16 x 16 pixels, where a tile of 64 channels would mostly be idle. 4 * 8 * (20 + 256)
// = 8832 bytes.
//
// Registers are the row's budget, which ptxas keeps to without spills: 64 are four blocks a
// multiprocessor, 80 three.
//
// Lost: unrolling the channels of a 3x3 slice too: 123 (nhwc) and 149 (nchw) registers. Slices of
// 16 channels: twice the shared bytes for half the barriers. Unrolling what follows the sum: 22 KB
// more of CUDA code a kernel, 14 KB of OpenCL. On an H200, ResNet-50 at batch 32: tiles of 128
// channels at 128 pixels of 1x1 filters, no faster where there are many and slower at 7x7 pixels;
// 3x3 by slices of four channels that are fetched ahead, slower than by eight.
void staged(Conv2dSliced &stages, const Conv2dContext &context) {
    const Block block(staged_tiles(context), context.nhwc);
    block.tile(stages.output);
    sum_slices(stages, context, block);
    if (stages.start.defined()) block.hold_start(stages.start, stages.output);
}

// The last rung: no shared memory and 128 threads, so that it fits every device, and sums of any
// length. A thread computes two channels at two pixels, four FMAs to four loads from global memory
// and its caches; it has the sums of a block and the running ones. 72 registers, no stack, no
// spills.
void unstaged(Conv2dSliced &stages, const Conv2dContext &context) {
    if (!stages.blocked.running.defined())
        throw CompileError("schedule unstaged is for algorithm sliced_blocks");
    const Block block(unstaged_tiles(context), context.nhwc);
    const RDom &d = stages.blocked.in_block, &blocks = stages.blocked.blocks;
    block.accumulate_alone(stages.blocked.running, stages.output, {blocks.x, blocks.y, blocks.z});
    block.accumulate_in_thread(stages.blocked.block_sum,
                               LoopLevel(stages.blocked.running, blocks.x), {d.x, d.y, d.z});
}

}  // namespace gpu

}  // namespace hk::schedules
