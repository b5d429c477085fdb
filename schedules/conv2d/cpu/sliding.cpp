#include "generators/ceil_div.h"
#include "schedules/conv2d/conv2d.h"
#include "schedules/conv2d/transposed_groups.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct DepthwiseTile {
    int vectors;  // of what lies next to each other (nhwc: groups, nchw: columns), side by side
    int x, y;     // pixels; nchw: x is the vectors' dimension
    int stage;    // 1: pad the input's rows in a buffer first; 0: read the input as it is
    int lanes;    // of a vector
    int whole;    // nhwc, 1: all groups of a tile of pixels before the next tile
    int taps;     // nhwc: of a row of a filter of any size, as many side by side
};

// nhwc, 3x3: 2 * 7 accumulators of 32 registers, the filter read from the first cache.
DepthwiseTile choose(const Conv2dContext &context) {
    const int lanes = context.target.natural_vector_size<float>();
    DepthwiseTile tile = context.nhwc ? DepthwiseTile{1, 7, 1, context.width == 0, lanes, 0, 1}
                                      : DepthwiseTile{1, 1, 2, 1, lanes, 0, 1};
    // Tiles are no wider than the output.
    const int columns = context.width / std::max(context.stride_x, 1);
    Knobs knobs(context.knobs);
    knobs.take("vectors", tile.vectors, steps(1, 4));
    if (context.nhwc) {
        knobs.take("tile_x", tile.x, steps(1, columns > 0 ? std::min(columns, 16) : 16));
        knobs.take("stage", tile.stage, {0, 1});
        knobs.take("whole", tile.whole, {0, 1});
        knobs.take("taps", tile.taps, steps(1, 8));
    }
    knobs.take("tile_y", tile.y, steps(1, 8));
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    knobs.end();
    knobs.require(!tile.whole || !tile.stage, "whole:1 has stage:0");
    // Rows name what fits AVX-512. Of 16 registers two vectors of groups by four pixels leave room
    // for what taps share, and read whole lines of a cache; pixels that are whole, in the order of
    // memory, stay so in tiles of one row: of two, explorer run conv2d_backward_data
    // 56x56_144-144_3x3_depthwise --knobs stage:0,tile_x:4,tile_y:2,whole:1 has 0.67 of the speed.
    // With a stride of 2 windows share few rows, and the order of memory counts for more.
    // Tiles of one row of a known width stay; groups of rows that name lanes may be no more.
    const bool fits =
        context.knobs.find("lanes:") != std::string::npos ||
        (tile.y == 1 && (tile.whole ? tile.vectors * tile.x <= 8 : context.width > 0));
    if (context.nhwc && vector_registers(context.target) < 32 && !fits) {
        tile.whole = !tile.stage && (context.stride_x == 2 || (tile.whole && tile.y == 1));
        tile.vectors = 2, tile.x = 4, tile.y = 1;
    }
    const int registers = tile.vectors * ((tile.lanes + lanes - 1) / lanes);
    knobs.estimate("vector registers", registers * tile.x * tile.y + 2,
                   vector_registers(context.target));
    return tile;
}

struct TransposedRows {
    TransposedSums sums;
    int columns;  // of a tile that is transposed
};

TransposedRows choose_transposed(const Conv2dContext &context) {
    Knobs knobs(context.knobs);
    TransposedRows tile{transposed_sums(context, 2, knobs), 4};
    knobs.take("columns", tile.columns, {4, 8});
    knobs.end();
    return tile;
}

// Rows of wider images are divided, too. Loops over those of small ones have constant ends, which
// is worth more (bench --filter 28x28_192-192_3x3_s2_depthwise).
constexpr int kUndividedWidth = 56;

// Of a tile of pixels at once: their rows are a few kilobytes, and stay in the first cache.
constexpr int kWholeGroups = 256;

// Tasks of blocks of groups, some neighbouring ones, and of tiles of rows.
struct DepthwiseTasks {
    Expr blocks, tiles;
};

DepthwiseTasks tasks_of(const Conv2dDepthwise &stages, const DepthwiseTile &tile) {
    const RDom &d = stages.r;
    const int groups = tile.vectors * tile.lanes;
    const Expr taps = d.x.extent() * d.y.extent() * tile.vectors;
    const Expr row = taps * stages.out_w * tile.y, tiles = ceil_div(stages.out_h, tile.y);
    const Expr blocks = ceil_div(stages.groups, groups);
    const auto even = [](const Expr &size, const Expr &least) {
        return ceil_div(size, ceil_div(size, max(least, 1)));
    };
    const int least = tile.whole ? kWholeGroups / groups : blocks_of_lines(groups);
    const Expr together = even(blocks, max(kTaskWork / (row * tiles), least));
    return {together, even(tiles, kTaskWork / (row * together))};
}

// One pass over the rows of a vector of groups. Large images are read as they are: Halide splits
// the loops into edges, which compare, and an inside, which does not. Small ones are mostly edge:
// there each row is padded once, and kept while the filter's window slides over it. With the width
// known the edges are constants and nothing compares.
//
// bench --list mobilenetv2 --row ROW, GFLOP/s on one Zen 4 core of 118: 56x56x144 depthwise3x3_s1
// 88 (staged, depthwise: 34); 7x7x960 depthwise3x3_s1_w7 61 (depthwise3x3_s1_small: 46).
void across_groups(Conv2dDepthwise &stages, const Conv2dContext &context) {
    const DepthwiseTile tile = choose(context);
    const int lanes = tile.lanes;
    const TailStrategy round_up = TailStrategy::RoundUp;
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), yb("yb"), gb("gb"), gt("gt"), gv("gv");
    const RDom &d = stages.r;
    const DepthwiseTasks tasks = tasks_of(stages, tile);
    const TailStrategy guard = TailStrategy::GuardWithIf;

    // Groups past the last can't be read, so their tail is shifted inwards in any case: in place of
    // a residual, rows take whole vectors of groups alone.
    out.split(x, xo, x, tile.x, context.plain_tail())
        .split(y, yo, y, tile.y, context.plain_tail())
        .split(g, gb, g, tile.vectors * lanes, TailStrategy::ShiftInwards)
        .split(g, gv, g, lanes)
        .split(gb, gt, gb, tasks.blocks, guard);
    if (context.width == 0 || context.width > kUndividedWidth)
        out.split(yo, yb, yo, tasks.tiles, guard);
    else
        out.split(yo, yo, yb, 1);
    // Loops over the edges and the inside of `whole` are of columns alone, or it has 80 KB of code.
    if (tile.whole)
        out.reorder(g, gv, x, y, gb, xo, yo, k, yb, gt, n).never_partition(gb, yo, yb, gt);
    else
        out.reorder(g, gv, x, y, xo, yo, k, gb, yb, gt, n);
    out.vectorize(g).unroll(gv).unroll(x).unroll(y);
    out.parallel(yb).parallel(gt).parallel(n).specialize(context.plain);
    out.never_partition(yo, gb, yb, gt);
    const Var &around = tile.whole ? gb : xo;
    stages.activated.compute_at(out, around)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .vectorize(g, lanes, round_up);
    by_activation(stages.activated, context).unroll(g).unroll(x).unroll(y);
    stages.sum.compute_at(out, around)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .vectorize(g, lanes, round_up)
        .unroll(g)
        .unroll(x)
        .unroll(y)
        .update()
        .reorder(g, x, y, d.x, d.y)
        .vectorize(g, lanes, round_up)
        .unroll(g)
        .unroll(x)
        .unroll(y);
    unroll_taps(stages.sum, d, context, tile.taps);
    for (Func *f : {&stages.start, &stages.packed})
        f->compute_at(out, tile.whole ? yb : gb).vectorize(g, lanes, tile.whole ? guard : round_up);
    stages.packed.specialize(context.groups_adjacent);
    if (tile.stage)
        stages.padded.store_at(out, gb).compute_at(out, yo).vectorize(g, lanes, round_up);
}

constexpr int kCopiedRows = 56;  // those that so many of the output's need

// The same with vectors of columns. Where whole rows are copied (conv2d_depthwise_rows) a task
// takes several groups, so many rows of one at a time: none of its vectors compares, and none reads
// what has just been written.
void across_columns(Conv2dDepthwise &stages, const Conv2dContext &context) {
    const DepthwiseTile tile = choose(context);
    const int lanes = tile.lanes;
    const int width = tile.vectors * lanes;
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const bool copies_rows = stages.columns.defined();
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), yb("yb"), xv("xv"), gt("gt"), rows("rows");
    const RDom &d = stages.r;

    out.split(x, xo, x, width, guard)
        .split(x, xv, x, lanes)
        .split(y, yb, y, copies_rows ? min(kCopiedRows, stages.out_h) : tile.y, guard)
        .split(y, yo, y, tile.y, guard)
        .split(g, g, gt, copies_rows ? 8 : 1, guard)
        .reorder(x, xv, y, xo, yo, yb, k, gt, g, n)
        .vectorize(x);
    out.fuse(g, n, rows).parallel(rows);
    // Sums stay in registers. Of conv2d that is more code than an application of it can have.
    if (copies_rows && context.in_place) out.unroll(y);
    stages.sum.compute_at(out, xo)
        .bound_extent(x, width)
        .bound_extent(y, tile.y)
        .vectorize(x, lanes)
        .unroll(x)
        .unroll(y)
        .update()
        .reorder(x, y, d.x, d.y)
        .vectorize(x, lanes)
        .unroll(x)
        .unroll(y);
    unroll_taps(stages.sum, d, context);
    for (Func *f : {&stages.start, &stages.packed}) f->compute_at(out, gt);
    stages.padded.vectorize(x, lanes, TailStrategy::RoundUp);
    if (copies_rows) {
        out.specialize(context.plain && context.dense_columns);
        out.never_partition_all().specialize(context.dense_columns);
        stages.packed.hoist_storage(out, rows);
        stages.padded.compute_at(out, yb).hoist_storage(out, rows);
        stages.padded.update().vectorize(stages.columns.x, lanes, guard);
    } else {
        stages.activated.compute_at(out, xv).bound_storage(x, lanes).vectorize(x);
        by_activation(stages.activated, context);
        stages.padded.store_at(out, gt).compute_at(out, yo);
    }
}

// A vector of groups of each pixel.
void unroll_rows(Func sums, int rows) {
    sums.bound_extent(g, kTransposedGroups)
        .bound_extent(y, rows)
        .vectorize(g, kTransposedGroups)
        .unroll(y);
}

// Vectors of groups of an image in rows: a row is transposed once it enters the window, and sums
// once all of the output's row are there. A task has several vectors of groups, whose memory it
// allocates once: on small images allocations take long beside the sums.
void across_transposed_groups(Conv2dDepthwise &stages, const Conv2dContext &context) {
    constexpr int lanes = kTransposedGroups;
    const TransposedRows tile = choose_transposed(context);
    const auto [tile_x, tile_y] = tile.sums;
    const TailStrategy guard = TailStrategy::GuardWithIf;
    Func &out = stages.output, &line = stages.line;
    const Var xo("xo"), yo("yo"), gb("gb"), gt("gt"), xt("xt"), rows("rows");
    const RDom &d = stages.r;

    out.split(y, yo, y, tile_y, guard)
        .split(x, xo, x, tile.columns, guard)
        .split(g, gb, g, lanes, guard)
        .split(gb, gt, gb, kBlocksOfTask, guard)
        .reorder(x, g, xo, y, yo, k, gb, gt, n)
        .vectorize(x);
    out.fuse(gt, n, rows).parallel(rows).specialize(context.plain && context.dense_columns);
    out.never_partition_all().specialize(context.dense_columns);
    transpose_at(LoopLevel(out, xo), stages.back, {lanes, tile.columns},
                 tile_and_block(stages.back));
    line.compute_at(out, yo)
        .hoist_storage(out, rows)
        .split(x, xt, x, tile_x, TailStrategy::ShiftInwards)
        .reorder(g, x, y, xt)
        .unroll(x);
    unroll_rows(line, tile_y);
    stages.sum.compute_at(line, xt).bound_extent(x, tile_x).unroll(x);
    unroll_rows(stages.sum, tile_y);
    stages.sum.update().reorder(g, x, y, d.x, d.y).vectorize(g, lanes).unroll(x).unroll(y);
    unroll_taps(stages.sum, d, context);
    for (Func *f : {&stages.start, &stages.packed}) f->compute_at(out, rows).vectorize(g, lanes);
    stages.packed.specialize(context.groups_adjacent);
    stages.padded.hoist_storage(out, rows).store_at(out, gb).compute_at(out, yo).fold_storage(
        y, rows_of_window(context, tile_y, stages.stride_y, stages.window_h));
    transpose_groups(stages.padded, stages.tiles);
}

}  // namespace

namespace cpu {

void sliding(Conv2dDepthwise &stages, const Conv2dContext &context) {
    if (stages.line.defined())
        across_transposed_groups(stages, context);
    else if (context.nhwc)
        across_groups(stages, context);
    else
        across_columns(stages, context);
}

// Every element is computed once, as the residual that is added may be what the output's memory
// held. One kernel with both loops is slower apart: explorer run, 112x112, stride 2, 0.63 of its
// speed.
void sliding_in_place(Conv2dDepthwise &stages, const Conv2dContext &context) {
    Conv2dContext in_place = context;
    in_place.in_place = true;
    sliding(stages, in_place);
}

}  // namespace cpu

// Where rows of the filter are a loop, and a tile is one row. Not of transposed groups: the window
// would not slide, as its first rows would not be known.
bool rows_inside(const Conv2dContext &context) {
    return context.schedule.starts_with("sliding") && context.nhwc && loops_over_rows(context) &&
           choose(context).y == 1;
}

int transposed_columns(const Conv2dContext &context) { return choose_transposed(context).columns; }

}  // namespace hk::schedules
