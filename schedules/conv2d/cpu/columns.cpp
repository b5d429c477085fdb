#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct ColumnTile {
    int vectors;  // of columns, side by side
    int filters;
    int of_task;  // filters; 0: all
    int chunk;    // tiles of a row in a task; 0: all, as stage:2 has
    int rows;     // in a task
    int stage;    // copy the padded input first, 1: a tile's columns, 2: whole rows of all
                  // channels

    int width(const Conv2dContext &context) const {
        return vectors * context.target.natural_vector_size<float>();
    }
};

// Registers: sums, vectors of columns, an element of the filter. AVX-512: 16 + 2 + 1 of 32. AVX2:
// 8 + 2 + 1 of 16, which leaves room for the activation's bounds; 12 + 3 + 1 are spilled.
ColumnTile choose(const Conv2dContext &context) {
    const bool wide = context.target.natural_vector_size<float>() >= kFilterBlock;
    ColumnTile tile = {2, 8, 0, 8, 1, 1};
    Knobs knobs(context.knobs);
    knobs.take("vectors", tile.vectors, steps(1, 4));
    knobs.take("filters", tile.filters, {2, 4, 8, 16});
    knobs.take("of_task", tile.of_task, {0, 64, 128, 256});
    knobs.take("rows", tile.rows, {1, 2, 4, 7, 8, 14, 16, 28});
    knobs.take("stage", tile.stage, {1, 2});
    if (tile.stage == 2) tile.chunk = 0;
    knobs.take("chunk", tile.chunk, {0, 2, 4, 8, 16, 32, 64});
    knobs.end();
    Knobs::require(tile.stage != 2 || tile.chunk == 0, "stage:2 has whole rows, chunk:0");
    // Rows name what fits AVX-512.
    if (!wide) tile.vectors = 2, tile.filters = 4;
    knobs.estimate("vector registers", tile.vectors * (tile.filters + 1) + 1,
                   vector_registers(context.target));
    return tile;
}

// Padded, as the sum's loop `at` reads it.
void copy_image(Conv2d &stages, const Var &at, bool in_rows, int lanes) {
    stages.padded.compute_at(stages.output, at)
        .reorder_storage(x, y, c, g, n)
        .reorder(x, y, c, g, n)
        .vectorize(x, lanes, TailStrategy::RoundUp);
    if (in_rows)
        stages.padded.update()
            .reorder(stages.elements.x, y, c, g, n)
            .vectorize(stages.elements.x, lanes, TailStrategy::GuardWithIf);
}

void pack_filter(Conv2d &stages) {
    const Var blocks("blocks");
    if (stages.of_pair)
        pack_pairs(stages, kFilterBlock, 0);
    else
        stages.packed.bound_extent(stages.ki, kFilterBlock)
            .reorder(s, r, c, stages.ki, stages.ko, g);
    stages.packed.compute_root().fuse(stages.ko, g, blocks).parallel(blocks);
}

}  // namespace

namespace cpu {

PackedSum columns_sum(const Conv2dContext &context) {
    const ColumnTile tile = choose(context);
    return {kFilterBlock,
            false,
            tile.stage == 2 ? Padding::rows : Padding::compared,
            false,
            context.pairs ? Pairs::words : Pairs::none};
}

// Images in rows (nchw): vectors of neighbouring columns times broadcasts of the filter, the sums
// in registers, which are stored as they are: vectors of filters are stored element by element. A
// tile's columns are padded, and widened to f32, once for all filters, or rows of all channels once
// a task, which compares with edges a row and not an element at a time. 1x1 filters that need
// neither: column_tiles.cpp.
//
// Images of few columns are not tasks enough, unless filters are divided, too (`of_task`).
void columns(Conv2d &stages, const Conv2dContext &context) {
    const ColumnTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>(), width = tile.width(context);
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const Var xo("xo"), xc("xc"), xv("xv"), yo("yo"), kb("kb"), kc("kc"), rows("rows");
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
    if (tile.of_task)
        out.split(kb, kc, kb, tile.of_task / tile.filters, guard);
    else
        out.split(yo, yo, kc, 1);
    out.reorder(x, xv, k, kb, xo, y, kc, xc, yo, g, n);
    out.fuse(kc, xc, rows)
        .fuse(rows, yo, rows)
        .fuse(rows, g, rows)
        .fuse(rows, n, rows)
        .parallel(rows);
    by_activation(out.specialize(context.dense_columns), context);
    out.never_partition_all();
    stages.start.compute_root();
    stages.sum.compute_at(out, kb)
        .bound_extent(y, 1)
        .bound_extent(k, tile.filters)
        .align_bounds(k, tile.filters)
        .reorder_storage(x, k, g, y, n)
        .bound_extent(x, width)
        .vectorize(x, lanes, TailStrategy::RoundUp)
        .unroll(x)
        .unroll(k);
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
    copy_image(stages, tile.stage == 2 ? rows : xo, tile.stage == 2, lanes);
    if (!context.filter_packed) pack_filter(stages);
}

}  // namespace cpu

}  // namespace hk::schedules
