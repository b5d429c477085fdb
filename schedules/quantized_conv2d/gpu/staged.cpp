#include "schedules/quantized_conv2d/quantized_conv2d.h"

#include "schedules/gpu_block.h"
#include "schedules/quantized_conv2d/gpu/correct.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

using namespace gpu;

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

bool pointwise(const QuantizedConv2dContext &context) {
    return context.kernel_w == 1 && context.kernel_h == 1;
}

// All taps of a slice are unrolled over one staged window of the input.
bool windowed(const QuantizedConv2dContext &context) {
    return context.kernel_w > 0 && context.kernel_h > 0 && !pointwise(context) &&
           context.stride_x == 1 && context.stride_y == 1 && context.dilation_x == 1 &&
           context.dilation_y == 1;
}

// tile_c counts words of four channels.
Tiles staged_tiles(const QuantizedConv2dContext &context) {
    const int words = !context.integer ? 2 : pointwise(context) ? 8 : 4;
    Tiles tiles =
        pointwise(context) ? Tiles{64, 64, 1, words, 16, 16, 1} : Tiles{64, 8, 8, words, 16, 4, 4};
    // Neighbouring threads write neighbouring addresses: k in nhwc, x in nchw.
    if (!context.nhwc && !pointwise(context)) {
        tiles.threads_x = 8;
        tiles.threads_y = 2;
    }
    Knobs knobs(context.knobs);
    tiles.take(knobs, true);
    knobs.end();
    const int taps_x = windowed(context) ? context.kernel_w : 1;
    const int taps_y = windowed(context) ? context.kernel_h : 1;
    const int filters = taps_x * taps_y * (tiles.tile_k + (context.integer ? 0 : 4));
    const int image = (tiles.tile_x + taps_x - 1) * (tiles.tile_y + taps_y - 1);
    Tiles::estimate_shared(tiles.tile_c * (context.integer ? 1 : 4) * (filters + image));
    return tiles;
}

Tiles unstaged_tiles(const QuantizedConv2dContext &context) {
    Tiles tiles = context.nhwc ? Tiles{16, 32, 1, 1, 8, 16, 1} : Tiles{8, 16, 4, 1, 4, 8, 4};
    Knobs knobs(context.knobs);
    tiles.take(knobs, false);
    knobs.end();
    return tiles;
}

// The filter's and the input's part of a step of the sum, copied so that neighbouring threads
// read neighbouring addresses.
void stage_operands(QuantizedConv2dSliced &stages, const QuantizedConv2dContext &context,
                    const Tiles &t, const LoopLevel &step, const std::vector<int> &threads) {
    const int taps_x = windowed(context) ? context.kernel_w : 1;
    const int taps_y = windowed(context) ? context.kernel_h : 1;
    // A word of bytes is whole; floats of neighbouring filters are neighbours.
    if (context.integer)
        stages.filter.reorder_storage({i, k, w, s, r, g});
    else
        stages.filter.reorder_storage({k, i, w, s, r, g}).align_storage(k, t.tile_k + 4);
    using Extents = std::vector<std::pair<Var, int>>;
    const Extents of_taps = {{s, taps_x}, {r, taps_y}}, channels = {{i, 4}, {w, t.tile_c}};
    const auto join = [](std::initializer_list<Extents> parts) {
        Extents all;
        for (const Extents &part : parts) all.insert(all.end(), part.begin(), part.end());
        return all;
    };
    const Extents filters = {{k, t.tile_k}, {g, 1}};
    cooperative_copy(stages.filter, step,
                     context.nhwc || context.integer ? join({channels, of_taps, filters})
                                                     : join({of_taps, channels, filters}),
                     threads, context.integer ? 4 : 1);

    Func &image = windowed(context) ? stages.window : stages.tap;
    const Extents pixels = {{x, t.tile_x + taps_x - 1}, {y, t.tile_y + taps_y - 1}};
    Extents extents = join({channels, {{g, 1}}, pixels, {{n, 1}}});
    if (!context.nhwc) {
        if (context.integer) {
            extents = join({{{i, 4}}, pixels, {{w, t.tile_c}, {g, 1}, {n, 1}}});
            image.reorder_storage({i, x, y, w, g, n});
        } else {
            extents = join({pixels, channels, {{g, 1}, {n, 1}}});
            image.reorder_storage({x, y, i, w, g, n});
        }
    }
    if (!windowed(context)) extents.insert(extents.end(), {{s, 1}, {r, 1}});
    cooperative_copy(image, step, extents, threads, context.integer ? 4 : 1);
}

}  // namespace

int quantized_sliced_tile(const QuantizedConv2dContext &context) {
    return context.schedule == "staged" ? staged_tiles(context).tile_c : 1;
}

namespace gpu {

// The tiles of schedules/conv2d/gpu/staged.cpp, over words of four channels: a block computes 64
// channels at 64 pixels (few: 16 at 16 x 16), 16 sums a thread in registers, 3x3 with all taps of a
// slice over one window.
//
// Bytes, on OpenCL: slices of 16 channels, 1x1: of 32. Shared bytes: 1x1 32 * (64 + 64) = 4096; any
// 16 * (64 + 64) = 2048; few 16 * (16 + 256) = 4352; 3x3 16 * (9 * 64 + 10 * 10) = 10816. Zero
// points enter through two sums, of each filter and of each window, a kernel each before this one,
// of no terms where the zero point is 0. Weights alone quantised: slices of eight channels, the
// filter dequantised as it is staged, so that it is in memory a slice at a time; bytes and FMAs are
// those of schedules/conv2d/gpu/staged.cpp.
//
// Lost: 1x1 of 16 channels, as many registers for twice the barriers. Slices of 32 channels for
// any: 80 and 64 registers, but the layers of three channels, and most groups, are there.
void quantized_staged(QuantizedConv2dSliced &stages, const QuantizedConv2dContext &context) {
    const Block block(staged_tiles(context), context.nhwc);
    const RDom &d = stages.r;
    block.tile(stages.output, Block::Unroll::none);
    block.hold(stages.sum, stages.output);
    if (context.integer) block.hold_start(stages.start, stages.output);
    Stage update = stages.sum.update();
    const std::vector<VarOrRVar> slices =
        windowed(context) ? std::vector<VarOrRVar>{d[4]} : std::vector<VarOrRVar>{d[2], d[3], d[4]};
    if (context.integer) {
        if (windowed(context))
            block.accumulate(update, {d[2], d[3], d[1]}, slices, {d[0]});
        else
            block.accumulate(update, {d[1]}, slices, {d[0]});
        update.atomic().vectorize(d[0]);
    } else if (windowed(context)) {
        block.accumulate(update, {d[2], d[3], d[0], d[1]}, slices);
    } else {
        block.accumulate(update, {d[0], d[1]}, slices);
        update.unroll(d[0]);
    }
    if (windowed(context))
        update.unroll(d[2]).unroll(d[3]);
    else
        update.unroll(d[1]);
    const LoopLevel step(stages.sum, windowed(context) ? d[4] : d[2]);
    stage_operands(stages, context, block.tiles(), step, block.threads());
    correct(stages, context);
}

// The last rung: no shared memory and 128 threads, so that it fits every device; bytes are
// multiplied one by one, their zero points taken off first. Lost: holding what follows the sum too:
// 8 registers more.
void quantized_unstaged(QuantizedConv2dSliced &stages, const QuantizedConv2dContext &context) {
    const Block block(unstaged_tiles(context), context.nhwc);
    if (stages.blocked.running.defined()) {
        const RDom &d = stages.blocked.in_block, &blocks = stages.blocked.blocks;
        block.accumulate_alone(stages.blocked.running, stages.output,
                               {blocks.x, blocks.y, blocks.z});
        block.accumulate_in_thread(stages.blocked.block_sum,
                                   LoopLevel(stages.blocked.running, blocks.x), {d.x, d.y, d.z});
        return;
    }
    const RDom &d = stages.r;
    block.accumulate_alone(stages.sum, stages.output, {d[0], d[1], d[4], d[2], d[3]});
    if (context.integer) block.hold_start_alone(stages.start, stages.output);
    stages.sum.update().unroll(d[0]);
}

// One channel and one filter a group: a slice of one word, whose other three channels are known to
// be zeros. Nothing is staged, as in schedules/conv2d/gpu/staged.cpp.
void quantized_thread_per_group(QuantizedConv2dSliced &stages,
                                const QuantizedConv2dContext &context) {
    const RDom &d = stages.r;
    GroupTiles tiles = context.nhwc ? GroupTiles{32, 8, 4, 4, 1} : GroupTiles{8, 8, 8, 1, 2};
    tiles.take(Knobs(context.knobs));
    compute_groups(stages.output, stages.sum, context.nhwc, tiles, {d[0], d[1], d[4], d[2], d[3]});
    stages.sum.update().unroll(d[0]);
}

}  // namespace gpu

}  // namespace hk::schedules
