#include "schedules/pool2d/pool2d.h"

#include "schedules/pool2d/cpu/bands.h"
#include "schedules/pool2d/cpu/blocks.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf;

struct Pool2dTile {
    int chunk;    // elements of a task, which has whole rows
    int lanes;    // of a vector; fewer where images are narrow
    int vectors;  // of channels side by side: where images have as many
};

Pool2dTile choose(const Pool2dContext &context) {
    Pool2dTile tile = {16384, context.target.natural_vector_size<float>(), 1};
    Knobs knobs(context.knobs);
    knobs.take("chunk", tile.chunk, powers(1024, 1 << 18));
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    if (context.nhwc) knobs.take("vectors", tile.vectors, {1, 2, 4, 8});
    knobs.end();
    return tile;
}

Expr rows_of_task(const Pool2dTile &tile, const Pool2dContext &context) {
    return max(tile.chunk / context.row, 1);
}

}  // namespace

// Vectors of channels, a register each, over all pixels of their windows. Several side by side
// share what finds a pixel; the last begin before the end of those before them.
void pool2d_by_channels(Pool2d &stages, const Pool2dContext &context) {
    if (!context.nhwc) throw CompileError("schedule by_channels is for nhwc, nchw has by_rows");
    const Pool2dTile tile = choose(context);
    const Var co("co"), kv("kv"), row("row"), task("task");
    const TailStrategy last = tile.vectors > 1 ? TailStrategy::ShiftInwards : guard;
    stages.output.compute_root()
        .split(c, co, c, tile.lanes * tile.vectors, last)
        .split(c, kv, c, tile.lanes, last)
        .reorder(c, kv, co, x, y, g, n)
        .fuse(g, n, n)
        .fuse(y, n, row)
        .split(row, task, row, rows_of_task(tile, context), guard)
        .parallel(task)
        .vectorize(c)
        .unroll(kv);
    const auto in_registers = [&](Stage of) {
        of.split(c, kv, c, tile.lanes, guard).vectorize(c).unroll(kv);
    };
    stages.folded.compute_at(stages.output, co);
    if (tile.vectors > 1) stages.folded.bound_extent(c, tile.lanes * tile.vectors);
    in_registers(stages.folded);
    Stage update = stages.folded.update();
    in_registers(update);
    update.reorder(c, kv, stages.r.x, stages.r.y).never_partition(stages.r.x, stages.r.y);
    if (context.kernel_w > 0) update.unroll(stages.r.x);
    if (context.kernel_h > 0) update.unroll(stages.r.y);
}

void pool2d_in_blocks(Pool2d &stages, const Pool2dContext &context) {
    in_blocks(stages.output, stages.blocked, context);
}

// Vectors of columns: a row of the output first folds rows of the input as they are, in registers,
// into one with room before and after the image; from there, in the first cache, come the pixels
// next to each other, of strides 1 and 2 by loads and shuffles. A task goes through bands of one
// image's rows, whose place is divided out once. Lost: windows at once, where a vector of a small
// image nearly always touches an edge and is gathered; sums over rows in memory, where what a
// masked store has written is late for the next load.
void pool2d_by_rows(Pool2d &stages, const Pool2dContext &context) {
    if (context.nhwc) throw CompileError("schedule by_rows is for nchw, nhwc has by_channels");
    constexpr auto round_up = TailStrategy::RoundUp;
    constexpr int kRowsOfBand = 16;
    const Pool2dTile tile = choose(context);
    const int lanes = tile.lanes;
    const Expr bands = rows_of_task(tile, context) / min(kRowsOfBand, context.rows);
    const Var xo("xo"), band("band"), task("task");
    Func &out = stages.output;
    by_bands(out, context, lanes, kRowsOfBand, bands, xo, band, task);
    stages.folded.compute_at(out, xo)
        .bound_extent(x, lanes)
        .vectorize(x)
        .update()
        .reorder(x, stages.r.x, stages.r.y)
        .vectorize(x);
    if (context.kernel_w > 0) stages.folded.update().unroll(stages.r.x);
    const RVar at = stages.columns.x, ao("ao");
    stages.column.compute_at(out, y)
        .hoist_storage(out, task)
        .vectorize(x, lanes, round_up)
        .update()
        .split(at, ao, at, lanes, guard)
        .vectorize(at);
    // A sum in a register: only what it is read from ends where the image does.
    stages.above.compute_at(stages.column, ao)
        .vectorize(x, lanes, TailStrategy::PredicateLoads)
        .update()
        .reorder(x, stages.rows)
        .vectorize(x, lanes, TailStrategy::PredicateLoads)
        .never_partition(stages.rows);
    if (context.kernel_h > 0) stages.above.update().unroll(stages.rows);
}

}  // namespace hk::schedules::cpu
