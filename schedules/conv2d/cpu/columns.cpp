#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct ColumnTile {
    int vectors;  // of columns, side by side
    int filters;
    int chunk;  // tiles of a row in a task; 0: all, as stage:2 has
    int rows;   // in a task
    int stage;  // copy the padded input first, 1: a tile's columns, 2: whole rows of all channels;
                // 0: read it where it is
};

// Registers: sums, vectors of columns. A multiplication takes a filter's element from memory.
// AVX-512: 16 + 2 of 32; AVX2: 12 + 3 of 16.
ColumnTile choose(const Conv2dContext &context) {
    const bool wide = context.target.natural_vector_size<float>() >= kFilterBlock;
    ColumnTile tile = wide ? ColumnTile{2, 8, 8, 1, 1} : ColumnTile{3, 4, 8, 1, 1};
    Knobs knobs(context.knobs);
    knobs.take("vectors", tile.vectors, steps(1, 4));
    knobs.take("filters", tile.filters, {2, 4, 8, 16});
    knobs.take("rows", tile.rows, {1, 2, 4, 7, 8, 14, 16, 28});
    knobs.take("stage", tile.stage, {0, 1, 2});
    if (tile.stage == 2) tile.chunk = 0;
    knobs.take("chunk", tile.chunk, {0, 1, 2, 4, 8, 16, 32, 64});
    knobs.end();
    Knobs::require(tile.stage != 2 || tile.chunk == 0, "stage:2 has whole rows, chunk:0");
    // Rows name what fits AVX-512.
    if (!wide) tile.vectors = 3, tile.filters = 4;
    knobs.estimate("vector registers", tile.vectors * (tile.filters + 1) + 1,
                   vector_registers(context.target));
    return tile;
}

}  // namespace

namespace cpu {

PackedSum columns_sum(const Conv2dContext &context) {
    return {kFilterBlock, false, choose(context).stage == 2 ? Padding::rows : Padding::compared,
            false, context.pairs ? Pairs::words : Pairs::none};
}

// Images in rows (nchw): vectors of neighbouring columns times broadcasts of the filter, the sums
// in registers, which are stored as they are: vectors of filters are stored element by element. A
// tile's columns are padded, and widened to f32, once for all filters, or rows of all channels once
// a task, which compares with edges a row and not an element at a time; what needs neither is read
// where it is, by the last tile of a row with comparisons.
void columns(Conv2d &stages, const Conv2dContext &context) {
    const ColumnTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>(), width = tile.vectors * lanes;
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const Var xo("xo"), xc("xc"), xv("xv"), yo("yo"), kb("kb"), rows("rows");
    Func &out = stages.output;

    out.split(x, xo, x, width, guard)
        .split(x, xv, x, lanes)
        .split(y, yo, y, tile.rows, guard)
        .split(k, kb, k, tile.filters, guard)
        .vectorize(x);
    if (tile.chunk)
        out.split(xo, xc, xo, tile.chunk, guard);
    else
        out.split(yo, yo, xc, 1);  // one part
    out.reorder(x, xv, k, kb, xo, y, xc, yo, g, n);
    out.fuse(xc, yo, rows).fuse(rows, g, rows).fuse(rows, n, rows).parallel(rows);
    out.specialize(context.plain && context.dense_columns);
    out.specialize(context.dense_columns);
    stages.start.compute_root();
    stages.sum.compute_at(out, kb)
        .bound_extent(x, width)
        .bound_extent(y, 1)
        .bound_extent(k, tile.filters)
        .align_bounds(k, tile.filters)
        .reorder_storage(x, k, g, y, n);
    stages.sum.vectorize(x, lanes, TailStrategy::RoundUp).unroll(x).unroll(k);
    Stage update = add_in_vectors(stages.sum, stages.of_pair, lanes,
                                  {x, k, stages.rc, stages.rs, stages.rr});
    update.unroll(x).unroll(k);
    if (stages.tap.defined())
        stages.tap.compute_at(stages.sum, stages.rc)
            .bound_extent(i, 2)
            .bound_extent(x, width)
            .reorder(i, x)
            .vectorize(i)
            .vectorize(x, lanes)
            .unroll(x);
    if (context.channels_per_group > 0 && context.channels_per_group <= 4) update.unroll(stages.rc);
    if (tile.stage == 2) {
        stages.padded.compute_at(out, rows)
            .reorder_storage(x, y, c, g, n)
            .reorder(x, y, c, g, n)
            .vectorize(x, lanes, TailStrategy::RoundUp)
            .update()
            .reorder(stages.elements.x, y, c, g, n)
            .vectorize(stages.elements.x, lanes, guard);
    } else if (tile.stage)
        stages.padded.compute_at(out, xo)
            .reorder_storage(x, y, c, g, n)
            .reorder(x, y, c, g, n)
            .vectorize(x, lanes, TailStrategy::RoundUp);
    if (!context.filter_packed) {
        const Var blocks("blocks");
        if (stages.of_pair)
            pack_pairs(stages, kFilterBlock, 0);
        else
            stages.packed.bound_extent(stages.ki, kFilterBlock)
                .reorder(s, r, c, stages.ki, stages.ko, g);
        stages.packed.compute_root().fuse(stages.ko, g, blocks).parallel(blocks);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
