#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr int kRows = 16;                 // of a tile: pixels
constexpr int kBlock = 2 * kFilterBlock;  // filters, two tiles

struct MatrixBlock {
    SliceSource source;
    int columns;  // of a tile, whose other pixels are in rows below
    int x, y;     // tiles of pixels
    int chunk;    // blocks of a row in a task; 0: all
    int panel;    // KB of the filter in a pass over the pixels

    int width() const { return x * columns; }
    int height() const { return y * kRows / columns; }
    bool has_taps() const { return source == SliceSource::taps || source == SliceSource::windows; }
};

// Registers: 4 of sums, and of what the next product needs at most 4. Rows of taps have up to 8
// columns.
MatrixBlock choose(const Conv2dContext &context) {
    const bool narrow = context.slices == SliceSource::taps;
    MatrixBlock block = {context.slices, narrow ? 8 : kRows, 1, 2, 0, 512};
    if (context.slices == SliceSource::line) block.x = 2, block.y = 1, block.chunk = 4;
    Knobs knobs(context.knobs);
    knobs.take("tiles_x", block.x, steps(1, narrow ? 1 : 2));
    knobs.take("tiles_y", block.y, {1, 2});
    knobs.take("chunk", block.chunk, {0, 1, 2, 4, 8, 16, 32});
    knobs.take("panel", block.panel, {128, 256, 512, 1024, 2048});
    knobs.end();
    knobs.require(block.x * block.y <= 2, "tiles are 1 or 2");
    return block;
}

const Var co("co"), xo("xo"), xc("xc"), yo("yo"), yc("yc"), kb("kb"), kp("kp"), rows("rows");

// Of the output, that a task copies the taps of: all of a small image, so that each of the filter's
// blocks is read from memory once.
int rows_of_taps(const MatrixBlock &block) {
    return block.source == SliceSource::windows ? block.height() : 8;
}

// Blocks of filters in a pass over the pixels: as many as stay in a core's cache meanwhile, and
// with more threads than one fewer, where pixels are few tasks.
Expr blocks_of_pass(const Conv2dSlices &stages, const MatrixBlock &block) {
    constexpr int tasks_of_thread = 4;
    const Expr most = max(block.panel * 1024 / (2 * stages.filter_bytes), 1);
    const Expr threads = number_of_threads(), rows = ceil_div(stages.out_h, block.height());
    const Expr parts = block.chunk ? ceil_div(stages.out_w, block.chunk * block.width()) : Expr(1);
    const Expr passes = ceil_div(tasks_of_thread * threads, rows * parts);
    const Expr even = ceil_div(ceil_div(stages.filters, kBlock), passes);
    return select(threads > 1, min(even, most), most);
}

// Tasks are blocks of rows, or parts of one, and passes.
void split(Conv2dSlices &stages, const MatrixBlock &block) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    Func &out = stages.output;
    out.split(x, xo, x, block.width(), guard)
        .split(y, yo, y, block.height(), guard)
        .split(k, kb, k, kBlock, guard)
        .vectorize(k);
    if (block.has_taps()) {
        out.split(yo, yc, yo, rows_of_taps(block) / block.height(), guard);
        if (block.source == SliceSource::windows)
            out.reorder(k, x, y, kb, xo, yo, yc, n, g);
        else
            out.reorder(k, x, y, xo, yo, kb, yc, n, g).parallel(kb);
        out.fuse(yc, n, rows).parallel(rows);
        return;
    }
    out.split(kb, kp, kb, blocks_of_pass(stages, block), guard);
    if (block.chunk)
        out.split(xo, xc, xo, block.chunk, guard);
    else
        out.split(yo, yo, xc, 1);  // one part
    out.reorder(k, x, y, kb, xo, xc, yo, n, kp, g)
        .fuse(xc, yo, rows)
        .fuse(rows, n, rows)
        .fuse(rows, kp, rows)
        .parallel(rows);
}

void hold(Conv2dSlices &stages, const MatrixBlock &block, const LoopLevel &at) {
    const Var row("tile_row"), kt("kt"), xt("xt"), yt("yt");
    Func &sum = stages.sum;
    sum.compute_at(at)
        .store_in(MemoryType::Stack)
        .bound_extent(k, kBlock)
        .align_bounds(k, kBlock)
        .bound_extent(y, block.height());
    if (block.source == SliceSource::line)
        sum.bound(x, 0, block.width()).bound_extent(stages.tile, 1);
    else
        sum.bound_extent(x, block.width());
    for (int update = -1; update < 1; update++) {
        Stage stage = update < 0 ? Stage(sum) : sum.update();
        std::vector<VarOrRVar> loops = {k, x, row, kt, xt, yt};
        stage.split(k, kt, k, kFilterBlock);
        if (block.columns == kRows)
            stage.split(x, xt, row, kRows).split(y, yt, x, 1);
        else
            stage.split(x, xt, x, block.columns).split(y, yt, row, kRows / block.columns);
        if (update < 0) {
            stage.reorder(loops).vectorize(k);
        } else {
            loops.insert(loops.begin(), {stages.half, stages.pair});
            loops.insert(loops.end(), {stages.slices, stages.s, stages.r});
            stage.reorder(loops);
        }
        stage.unroll(kt).unroll(xt).unroll(yt);
    }
}

void copy_taps(Conv2dSlices &stages, const MatrixBlock &block, const Conv2dContext &context) {
    const TailStrategy guard = TailStrategy::GuardWithIf;
    stages.tap.compute_at(stages.output, rows)
        .reorder_storage(c, x, y, s, r, g, n)
        .bound_extent(y, rows_of_taps(block))
        .split(c, co, c, kSliceChannels, TailStrategy::RoundUp)
        .vectorize(c);
    if (block.columns < kRows) stages.tap.bound_extent(x, block.columns);
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

void tiles(Conv2dSlices &stages, const Conv2dContext &context) {
    const MatrixBlock block = choose(context);
    Func &out = stages.output;
    split(stages, block);
    out.never_partition_all();
    stages.start.compute_root();
    stages.activated.compute_at(out, x).vectorize(k).bound_extent(k, kBlock);
    by_activation(stages.activated, context);
    hold(stages, block, LoopLevel(out, block.source == SliceSource::taps ? xo : kb));
    if (block.has_taps())
        copy_taps(stages, block, context);
    else if (block.source == SliceSource::image)
        stages.padded.compute_at(out, rows).vectorize(c, kSliceChannels, TailStrategy::RoundUp);
}

}  // namespace cpu

}  // namespace hk::schedules
