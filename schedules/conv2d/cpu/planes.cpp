#include "schedules/conv2d/conv2d.h"
#include "schedules/conv2d/transposed_groups.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct PlaneSchedule {
    PlaneTile tile;
    int taps;  // of a row of a filter of any size, as many side by side
};

// A row of a stride of 2, or of few taps: the fewer rows of the input are kept. Else two, which
// share what they read.
int rows_of_sums(const Conv2dContext &context) {
    return context.stride_y > 1 || !loops_over_rows(context) ? 1 : 2;
}

PlaneSchedule choose(const Conv2dContext &context) {
    Knobs knobs(context.knobs);
    const TransposedSums sums = transposed_sums(context, rows_of_sums(context), knobs);
    PlaneTile tile{sums.x, sums.y, context.target.natural_vector_size<float>(), 4};
    knobs.take("pixels", tile.pixels, {4, 8, 16});
    int taps = 1;
    knobs.take("taps", taps, steps(1, 8));
    knobs.end();
    return {tile, taps};
}

// Blocks of groups in a task. Transposing a pixel there and back takes about as long as so many
// multiplications.
Expr blocks_of_task(const Conv2dPlanes &stages, const PlaneTile &tile) {
    constexpr int of_pixel = 10;
    const RDom &d = stages.r;
    const Expr pixels = stages.to.z.extent() * tile.pixels;
    return clamp(kTaskWork / (pixels * (d.x.extent() * d.y.extent() + of_pixel)), 1, kBlocksOfTask);
}

void sum_tiles(Conv2dPlanes &stages, const Conv2dContext &context, const PlaneSchedule &schedule) {
    const PlaneTile &tile = schedule.tile;
    const RDom &p = stages.place, &d = stages.r;
    stages.line.update()
        .reorder(g, p.x, p.y, p.z, p.w)
        .vectorize(g, kTransposedGroups)
        .unroll(p.x)
        .unroll(p.y);
    stages.sum.compute_at(stages.line, p.z)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .bound_extent(g, kTransposedGroups)
        .vectorize(g)
        .unroll(x)
        .unroll(y)
        .update()
        .reorder(g, x, y, d.x, d.y)
        .vectorize(g)
        .unroll(x)
        .unroll(y);
    unroll_taps(stages.sum, d, context, schedule.taps);
}

// A row is transposed once it enters the window.
void transpose_rows(Conv2dPlanes &stages, const Conv2dContext &context, const PlaneTile &tile,
                    const LoopLevel &block, const LoopLevel &task) {
    Func &padded = stages.padded;
    const RDom &t = stages.tiles.r;
    padded.hoist_storage(task)
        .store_at(block)
        .compute_at(stages.line, stages.place.w)
        .fold_storage(y, rows_of_window(context, tile.y, stages.stride_y, stages.window_h))
        .bound_extent(g, kTransposedGroups)
        .vectorize(g);
    for (int update : {0, 1}) padded.update(update).vectorize(g);
    padded.update(2).reorder({g, t.x, t.y, y, b, n}).vectorize(g).unroll(t.x);
    transpose_at(LoopLevel(padded, t.y), stages.tiles.there, {tile.columns, kTransposedGroups},
                 arguments_of_tiles(stages.tiles.there));
}

void pack(Conv2dPlanes &stages, const Conv2dContext &context, const LoopLevel &task) {
    TransposedTiles &filter = stages.filter;
    stages.packed.compute_at(task).bound_extent(g, kTransposedGroups).vectorize(g);
    if (filter.there.empty()) {
        stages.packed.specialize(context.groups_adjacent);
        return;
    }
    Stage update = stages.packed.update();
    update.reorder({g, filter.r.x, filter.r.y, b}).vectorize(g).unroll(filter.r.x);
    update.specialize(context.dense_taps);
    update.specialize(context.groups_adjacent);
    transpose_at(LoopLevel(stages.packed, filter.r.y), filter.there,
                 {filter.columns, kTransposedGroups}, arguments_of_tiles(filter.there));
}

}  // namespace

PlaneTile plane_tile(const Conv2dContext &context) { return choose(context).tile; }

namespace cpu {

// Vectors of groups of an image in rows: rows of the input are transposed four columns at a time
// once they enter the window, sums a vector of pixels at a time once all of a plane's are there. A
// plane is one line then, of which no tile ends with a row, and all tiles are whole: nothing is
// masked, and addresses of a tile are a base and multiples of a stride. A task has several vectors
// of groups, whose memory it allocates once.
//
// Of 16 groups at 7x7, 3x3, in instructions of vectors of 16: 441 multiplications, 14 tiles of 20
// shuffles on the way in, 4 of 64 on the way back. Tiles of seven columns by one or two rows share
// what their taps read, about a load for two multiplications.
//
// Lost: whole planes that are padded before the first sum, the larger the slower; zeros written to
// all of a row first; tiles of three rows or of 14 columns; tiles of 8 columns on the way in, of 8
// pixels on the way back.
void planes(Conv2dPlanes &stages, const Conv2dContext &context) {
    const PlaneSchedule schedule = choose(context);
    const PlaneTile &tile = schedule.tile;
    const RDom &to = stages.to;
    const RVar task("task"), block("block");
    Func &output = stages.output;
    output.update()
        .allow_race_conditions()
        .split(to.w, task, block, blocks_of_task(stages, tile), TailStrategy::GuardWithIf)
        .reorder({to.x, to.y, to.z, block, task, n})
        .vectorize(to.x)
        .parallel(task)
        .parallel(n)
        .specialize(context.plain)
        .unroll(to.y);
    transpose_at(LoopLevel(output, to.z), stages.back, {kTransposedGroups, tile.pixels},
                 arguments_of_tiles(stages.back));
    stages.line.compute_at(output, block).hoist_storage(output, task);
    sum_tiles(stages, context, schedule);
    stages.start.compute_at(output, task).vectorize(g, kTransposedGroups);
    pack(stages, context, LoopLevel(output, task));
    transpose_rows(stages, context, tile, LoopLevel(output, block), LoopLevel(output, task));
}

}  // namespace cpu

}  // namespace hk::schedules
