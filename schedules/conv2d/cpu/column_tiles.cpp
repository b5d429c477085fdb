#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct ColumnBlock {
    int vectors;  // of columns of a whole tile
    int filters;  // beside them
    int beside;   // filters beside a single vector of them
    int of_task;  // filters
    int chunk;    // tiles of a row in a task; those of a panel
    int inner;    // 1: a task's tiles inside its blocks of filters
    int plain;    // 1: code of its own for a clamp without residual; 0: chosen vector by vector
    int unroll;   // channels of a step; 1: a tile prefetches those that are kAhead further on
    int copies;   // 1: a task's tiles first, each of which then is in one piece
};

constexpr int kAhead = 32;

ColumnBlock choose(const Conv2dContext &context) {
    ColumnBlock block = {3, 8, 16, 64, 2, 0, 1, one_multiply_add(context.target) ? 1 : 2, 0};
    const bool wide = context.target.natural_vector_size<float>() >= kFilterBlock;
    if (context.panels) block.unroll = 1;  // a panel is in one piece
    Knobs knobs(context.knobs);
    knobs.take("vectors", block.vectors, steps(1, 4));
    knobs.take("filters", block.filters, {2, 4, 8, 16});
    knobs.take("beside", block.beside, {4, 8, 16});
    knobs.take("of_task", block.of_task, {64, 128, 256, 512, 1024, 2048});
    knobs.take("chunk", block.chunk, {1, 2, 4, 8, 16, 32, 64});
    knobs.take("inner", block.inner, {0, 1});
    knobs.take("plain", block.plain, {0, 1});
    knobs.take("unroll", block.unroll, {1, 2, 4});
    knobs.take("copies", block.copies, {0, 1});
    knobs.end();
    // Rows name what fits AVX-512.
    if (!wide) {
        block.vectors = 3, block.filters = 4, block.beside = 8;
        block.plain = 1;  // masked stores, which tell tiles apart that overlap, are slow
        if (block.copies) block.inner = 0;
    }
    knobs.estimate("vector registers", block.vectors * (block.filters + 1) + 1,
                   vector_registers(context.target));
    return block;
}

// A task's tiles, each in one piece, of an odd number of channels: a power of two would place what
// is written together in the same few lines of the first cache.
void copy_tiles(const Conv2dColumns &stages, const Conv2dColumnSums &of, const LoopLevel &task,
                int lanes) {
    Func copied = of.copied;
    copied.compute_at(task)
        .bound(x, 0, of.place.x.extent())
        .bound_storage(c, of.terms.x.extent() | 1)
        .reorder_storage(x, c, s, r, g, stages.tile, y, n)
        .reorder(x, stages.tile, s, r, c)
        .vectorize(x, lanes)
        .unroll(x);
}

void add_terms(const Conv2dColumnSums &of, const ColumnBlock &block, int lanes,
               const Conv2dContext &context) {
    const RVar channel = of.terms.x, s = of.terms.y, r = of.terms.z;
    Func sum = of.sum;
    Stage update = sum.update();
    if (block.unroll > 1) {
        const RVar step("step"), of_step("of_step");
        update.split(channel, step, of_step, block.unroll, TailStrategy::GuardWithIf)
            .reorder({x, k, of_step, step, s, r})
            .unroll(of_step)
            .partition(step, Partition::Always);
    } else {
        update.reorder({x, k, channel, s, r});
        if (!context.panels && !block.copies)
            update.prefetch(context.image, channel, channel, kAhead,
                            PrefetchBoundStrategy::NonFaulting);
    }
    update.vectorize(x, lanes, TailStrategy::RoundUp).unroll(x).unroll(k);
}

// A task's panel, from one channel's rows after the other.
void copy_rows(const Conv2dColumnSums &of, const LoopLevel &task, const LoopLevel &at, int lanes) {
    if (!of.panel.defined()) return;
    Func ends = of.ends, padded = of.padded, panel = of.panel;
    ends.compute_at(task);
    // Rows an odd number of vectors apart: neighbours in a cache's sets are few, else.
    const int vectors = of.columns_of_panel / lanes + 2;
    panel.compute_at(at).bound(x, -lanes, (vectors | 1) * lanes);
    panel.update()
        .allow_race_conditions()
        .reorder({of.rows.x, of.rows.y, of.rows.z, s, r, c, g, n})
        .vectorize(of.rows.x);
    padded.compute_at(panel, c)
        .store_at(panel, g)
        .reorder_storage({x, y, c, g, n})
        .reorder({x, y, c, g, n})
        .vectorize(x, lanes, TailStrategy::RoundUp);
    padded.update()
        .reorder({of.elements.x, y, c, g, n})
        .vectorize(of.elements.x, lanes, TailStrategy::GuardWithIf);
}

// Columns of a tile where vectors are of filters.
constexpr int kSingles = 4;

// Filters in a task, a multiple of those beside a tile: fewer where panels are fewer than threads,
// each of which copies its panel then.
Expr filters_of_task(const Conv2dColumns &stages, const Conv2dColumnSums &of,
                     const ColumnBlock &block) {
    constexpr int least = 64;
    if (!(of.panel.defined() || block.copies) || block.of_task <= least) return block.of_task;
    const Expr threads = number_of_threads();
    const Expr panels = max(ceil_div(of.place.y.extent(), block.chunk), 1);
    const Expr parts = ceil_div(threads, panels);
    const Expr even = ceil_div(ceil_div(stages.filters, parts), least) * least;
    return select(threads > 1, clamp(even, least, block.of_task), block.of_task);
}

// Tiles of a row in a task: fewer, of several threads, where that makes few tasks.
Expr tiles_of_task(const Expr &tiles, const ColumnBlock &block, const Conv2dColumnSums &of) {
    if (of.panel.defined()) return block.chunk;
    constexpr int least = 2, tasks_of_thread = 4;
    const Expr threads = number_of_threads(), even = ceil_div(tiles, tasks_of_thread * threads);
    return select(threads > 1, clamp(even, std::min(least, block.chunk), block.chunk), block.chunk);
}

// An update of the output, of tiles of so many filters: vectors of columns.
void sum_tiles(Conv2dColumns &stages, const Conv2dColumnSums &of, Stage out, int filters,
               const ColumnBlock &block, const Conv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const RVar xv("xv"), xi("xi"), tile("tile"), chunk("chunk"), task("task");
    const Var kb("kb"), kc("kc");
    out.allow_race_conditions()
        .split(of.place.x, xv, xi, lanes)
        .split(of.place.y, chunk, tile, tiles_of_task(of.place.y.extent(), block, of), guard)
        .split(k, kb, k, filters, guard)
        .split(kb, kc, kb, filters_of_task(stages, of, block) / filters, guard)
        .vectorize(xi);
    if (block.inner)
        out.reorder(xi, xv, k, tile, kb, y, kc, chunk, g, n);
    else
        out.reorder(xi, xv, k, kb, tile, y, kc, chunk, g, n);
    out.fuse(kc, chunk, task).fuse(task, g, task).fuse(task, n, task).parallel(task);
    Stage dense = out.specialize(context.dense_columns);
    if (block.plain) dense.specialize(context.plain).unroll(xv).unroll(k);
    out.never_partition_all();

    Func sum = of.sum, activated = of.activated;
    sum.compute_at(block.inner ? LoopLevel(stages.output, tile) : LoopLevel(stages.output, kb))
        .bound_extent(y, 1)
        .bound_extent(k, filters)
        .align_bounds(k, filters)
        .bound(x, 0, of.place.x.extent())
        .bound_extent(stages.tile, 1)
        .reorder_storage(x, k, g, stages.tile, y, n)
        .vectorize(x, lanes, TailStrategy::RoundUp)
        .unroll(x)
        .unroll(k);
    add_terms(of, block, lanes, context);
    if (block.copies) copy_tiles(stages, of, LoopLevel(stages.output, y), lanes);
    const LoopLevel of_task(stages.output, task);
    copy_rows(of, of_task, block.copies ? LoopLevel(of.copied, c) : of_task, lanes);
    if (of.packed.defined()) {
        Func packed = of.packed;
        packed.bound_extent(stages.ki, kFilterBlock)
            .reorder(stages.ki, stages.ko, c, s, r, g)
            .vectorize(stages.ki, lanes);
        if (block.copies) {
            const Var of_c("of_c");
            constexpr int rows = 16;
            packed.compute_root()
                .split(c, c, of_c, rows, TailStrategy::GuardWithIf)
                .reorder(stages.ki, of_c, stages.ko, c)
                .parallel(c);
        } else {
            packed.compute_at(of_task);
        }
        packed.specialize(context.filters_adjacent);
    }
    // A vector, known as one, or its memory would not be on the stack.
    activated.compute_at(stages.output, xv).reorder_storage(x, k, g, stages.tile, y, n);
    activated.bound_extent(x, lanes).vectorize(x);
    by_activation(activated, context);
}

// The same of single columns: vectors of filters.
void sum_singles(Conv2dColumns &stages, const Conv2dColumnSums &of, Stage out,
                 const Conv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const int filters = (vector_registers(context.target) < 32 ? 2 : 4) * lanes;
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const RVar column = of.place.x, tile = of.place.y;
    const Var kb("kb"), kv("kv"), task("task");
    out.allow_race_conditions()
        .split(k, kb, k, filters, guard)
        .split(k, kv, k, lanes)
        .reorder(k, column, kv, tile, y, kb, g, n)
        .vectorize(k)
        .fuse(kb, g, task)
        .fuse(task, n, task)
        .parallel(task)
        .never_partition_all();
    Func sum = of.sum, activated = of.activated;
    sum.compute_at(stages.output, tile)
        .bound_extent(y, 1)
        .bound_extent(k, filters)
        .align_bounds(k, filters)
        .bound(x, 0, kSingles)
        .bound_extent(stages.tile, 1)
        .vectorize(k, lanes, TailStrategy::RoundUp)
        .unroll(x)
        .unroll(k);
    Stage update = sum.update();
    update.reorder({k, x, of.terms.x, of.terms.y, of.terms.z})
        .vectorize(k, lanes, TailStrategy::RoundUp)
        .unroll(x)
        .unroll(k);
    if (!context.filter_packed) update.specialize(context.filters_adjacent);
    activated.compute_at(stages.output, column).bound_extent(k, lanes).vectorize(k);
    by_activation(activated, context);
}

}  // namespace

ColumnTiles column_tiles_of(const Conv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    const ColumnBlock block = choose(context);
    const bool overlap = context.panels || block.copies;
    return {block.vectors * lanes, lanes, kSingles, overlap, context.panels ? block.chunk : 0};
}

namespace cpu {

// Images in rows (nchw): vectors of neighbouring columns times broadcasts of the filter, the
// sums in registers, which are stored as they are. Registers of AVX-512: 24 sums, 3 vectors of
// columns, an element of the filter, of 32, and 11 loads for 24 multiply-adds; of a single vector
// 16 + 1 + 1, 17 loads for 16. Of AVX2: 12 + 3 + 1 of 16, 7 loads for 12. Single columns of vectors
// of filters: 16 sums, 8 loads for 16.
//
// In an image a channel's columns lie in another page than the next one's, so that no hardware
// prefetches a tile. Where a core has one multiply-add a cycle, the kernel does; where it has two,
// two channels in a step are 1.1 times as fast as one (explorer run conv2d resnet50 --layout nchw
// --row 1x1_columns --knobs inner:1,chunk:8,unroll:1). With few channels stores take most of the
// time: by explorer run conv2d mobilenetv2 --layout nchw --row 1x1_columns --knobs chunk:2 tiles
// next to each other one after the other (`inner`) are 1.4 to 1.7 times as fast at
// 112x112_16-96_1x1. Both on a Xeon, family 6, model 167.
//
// With AVX2 a tile has a quarter of the sums, and is read for each four filters. `copies`: first a
// task's tiles are copied, each into one piece, which the second cache then streams: from the image
// they would come a row of three vectors a page, often out of a few sets of the cache. Where
// filters are few and sums short the copy takes longer (bench --layout nchw --list resnet50
// --filter 1x1, the other by --row 1x1_columns; explorer run conv2d 320x320_32-64_3x3_s2 --layout
// nchw --row panels_copied_s2 --knobs copies:0).
//
// A panel is copied once for all of a task's filters. It has several tiles, since of the rows that
// it meets the first and the last are copied in part vectors, but no more than a core's cache
// holds.
//
// Lost: prefetching the next tile's in each pass of this one's filters; columns transposed to
// neighbouring channels and back; sums of a slice of terms at a time, added up in memory, of copied
// tiles, too: a tile for all filters of a task, or for blocks of 16, in the first cache.
void column_tiles(Conv2dColumns &stages, const Conv2dContext &context) {
    const ColumnBlock block = choose(context);
    int update = 0;
    sum_tiles(stages, stages.whole, stages.output.update(update++), block.filters, block, context);
    if (stages.vectors.sum.defined())
        sum_tiles(stages, stages.vectors, stages.output.update(update++), block.beside, block,
                  context);
    sum_singles(stages, stages.singles, stages.output.update(update), context);
    stages.start.compute_root();
}

}  // namespace cpu

}  // namespace hk::schedules
