#include "schedules/conv2d/conv2d.h"
#include "schedules/conv2d/matrix_block.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct SliceBlock : MatrixBlock {
    SliceSource source;

    bool has_taps() const { return source == SliceSource::taps || source == SliceSource::windows; }
};

// Registers: 4 of sums, and of what the next product needs at most 4. Rows of taps have up to 8
// columns.
SliceBlock choose(const Conv2dContext &context) {
    const bool narrow = context.slices == SliceSource::taps;
    SliceBlock block = {{narrow ? 8 : kTileRows, 1, 2, 0, 1280}, context.slices};
    if (context.slices == SliceSource::line) block.x = 2, block.y = 1, block.chunk = 4;
    if (block.chunk) block.panel = 512;
    take_knobs(block, context, narrow ? 1 : 2, context.slices == SliceSource::line ? 1 : 2);
    return block;
}

const Var co("co"), xo("xo"), yo("yo"), yc("yc"), kb("kb"), rows("rows");

// Of the output, that a task copies the taps of: all of a small image, so that each of the filter's
// blocks is read from memory once.
int rows_of_taps(const SliceBlock &block) {
    return block.source == SliceSource::windows ? block.height() : 8;
}

// Tasks are blocks of rows, or parts of one, and passes.
void split(Conv2dSlices &stages, const SliceBlock &block) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    Func &out = stages.output;
    out.split(x, xo, x, block.width(), guard)
        .split(y, yo, y, block.height(), guard)
        .split(k, kb, k, kBlockFilters, guard)
        .vectorize(k);
    if (block.has_taps()) {
        out.split(yo, yc, yo, rows_of_taps(block) / block.height(), guard)
            .reorder(k, x, y, xo, yo, kb, yc, n, g)
            .fuse(yc, n, rows)
            .parallel(rows);
        if (block.source == SliceSource::taps) out.parallel(kb);
        return;
    }
    split_in_passes(
        out, block, block.of_pass(stages.out_w, stages.out_h, stages.filters, stages.filter_bytes));
}

void copy_taps(Conv2dSlices &stages, const SliceBlock &block, const Conv2dContext &context) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    stages.tap.compute_at(stages.output, rows)
        .reorder_storage(c, x, y, s, r, g, n)
        .bound_extent(y, rows_of_taps(block))
        .split(c, co, c, kSliceChannels, TailStrategy::RoundUp)
        .vectorize(c);
    if (block.columns < kTileRows) stages.tap.bound_extent(x, block.columns);
    if (block.source == SliceSource::taps) return;
    stages.tap.reorder(c, x, s, r, y, co, g, n);
    stages.padded.compute_at(stages.output, rows)
        .vectorize(stages.padded.args()[0], kSliceChannels, TailStrategy::RoundUp);
    stages.padded.update()
        .specialize(context.dense_pixels)
        .vectorize(stages.elements.x, kSliceChannels, guard);
}

}  // namespace

SliceForm slice_form(const Conv2dContext &context) {
    const bool rounds = context.target.has_feature(Target::AVX512_SapphireRapids);
    return {context.slices, choose(context).width(), context.schedule == "tiles" && rounds};
}

namespace cpu {

// Products of matrices in registers of 16 rows by 64 bytes (compiler/tile_registers.h): of a block
// of 32 filters by 32 pixels four tiles of sums, for which each step of 32 channels loads two tiles
// of pixels and two of filters: a load of 1 KB takes 8 cycles, a product 16, and one load a product
// leaves the other half to what misses the first cache. A filter's tile is 1 KB of memory, packed;
// the rows of pixels are read where they are, or out of the padded copy that a task makes. The sums
// leave by way of the stack, in the order of pixels, where bias, activation and rounding take 160
// cycles a block, as many as ten products.
//
// Images of up to 8 columns fill a tile with two of their rows; for that taps are copied, of the
// whole image, and each block of filters is read once from memory, which is what these are bound
// by. Filters of other images stay in a core's second cache, of 2 MB, while the pixels pass.
//
// explorer run conv2d resnet50 --type bf16, one core of a Xeon, family 6, model 167: 1x1 1100 to
// 1500 GFLOP/s from 256 channels on, 860 of 64; 3x3 1480 to 1660, with strides of 2 1200 to 1350;
// 7x7 pixels 730 to 890. With real data the clock is lower: four products a step then take 21
// cycles each, 2900 GFLOP/s, of which 1024 channels, whose 32 pixels no first cache holds, reach
// 1800.
//
// Lost: sums of a block stored while the next is multiplied, which gained 4 % here and lost 5 %
// there; two phases of four blocks; prefetching of filters; 14 rows a tile, for images of 14
// columns (loads take as long). Without the copy of taps 7x7_512-512_3x3 took 444 us, not 270.
void tiles(Conv2dSlices &stages, const Conv2dContext &context) {
    const SliceBlock block = choose(context);
    Func &out = stages.output;
    split(stages, block);
    out.never_partition_all();
    stages.start.compute_root();
    stages.activated.compute_at(out, x).vectorize(k).bound_extent(k, kBlockFilters);
    by_activation(stages.activated, context);
    hold(stages.sum, block, LoopLevel(out, block.has_taps() ? xo : kb),
         {stages.half, stages.pair, stages.slices, stages.s, stages.r});
    if (block.source == SliceSource::line)
        stages.sum.bound(x, 0, block.width()).bound_extent(stages.tile, 1);
    else
        stages.sum.bound_extent(x, block.width());
    if (block.has_taps())
        copy_taps(stages, block, context);
    else if (block.source == SliceSource::image)
        stages.padded.compute_at(out, rows).vectorize(c, kSliceChannels, TailStrategy::RoundUp);
}

}  // namespace cpu

}  // namespace hk::schedules
