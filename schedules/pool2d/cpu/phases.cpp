#include "generators/ceil_div.h"
#include "schedules/pool2d/cpu/bands.h"
#include "schedules/pool2d/pool2d_backward.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto guard = TailStrategy::GuardWithIf, round_up = TailStrategy::RoundUp;

struct PhaseTile {
    int rows;     // of pixels, a band, for which what windows hold is kept
    int chunk;    // elements of a task, which has whole bands
    int lanes;    // of a vector of windows or channels; fewer where images are narrow
    int vectors;  // of channels side by side: where images have as many
};

PhaseTile choose(const Pool2dContext &context) {
    PhaseTile tile = {context.nhwc ? 32 : 16, 16384, context.target.natural_vector_size<float>(),
                      1};
    Knobs knobs(context.knobs);
    knobs.take("rows", tile.rows, powers(4, 64));
    knobs.take("chunk", tile.chunk, powers(1024, 1 << 18));
    knobs.take("lanes", tile.lanes, {4, 8, 16});
    if (context.nhwc) knobs.take("vectors", tile.vectors, {1, 2, 4});
    knobs.end();
    return tile;
}

struct Strides {
    int x, y;
};

// Pixels of a stride's rows and columns share the windows that they are in.
Strides known_strides(const Pool2dContext &context) {
    const Strides strides{context.Conv2dSizes::stride_x, context.Conv2dSizes::stride_y};
    if (strides.x == 0 || strides.y == 0 || context.kernel_w == 0 || context.kernel_h == 0)
        throw CompileError("schedule by_phases needs windows and strides that are known");
    return strides;
}

// No more than an image has, in whole strides.
Expr rows_of_band(const PhaseTile &tile, const Pool2dContext &context) {
    const int stride = known_strides(context).y;
    return min(tile.rows, ceil_div(context.rows, stride) * stride);
}

Expr bands_of_task(const PhaseTile &tile, const Pool2dContext &context) {
    return tile.chunk / context.row / min(tile.rows, context.rows);
}

void unroll_window(Stage scan, const RDom &r) { scan.unroll(r.x).unroll(r.y); }

// Vectors of windows next to each other. A band's rows are first copied into room around them; then
// comes what its windows hold; a vector of windows for each phase of columns is interleaved. Of 16
// windows of 3x3, 64 pixels, these are some 30, 60 and 40 instructions, half of them comparisons
// and shuffles, which share a port on Intel's cores; what is memory's is most of the time where an
// image is not in a cache (explorer run pool2d_backward max_112x112_64_3x3_s2 --layout nchw). Lost:
// rows copied where a vector of windows is looked at, whose loads wait for stores that they overlap
// in part.
void phases_of_columns(Pool2dBackward &stages, const Pool2dContext &context) {
    const PhaseTile tile = choose(context);
    const Strides stride = known_strides(context);
    const int lanes = tile.lanes, natural = context.target.natural_vector_size<float>();
    const Var xo("xo"), yo("yo"), ys("ys"), band("band"), task("task"), odd("odd");
    Func &out = stages.output;
    out.compute_root()
        .split(x, xo, x, lanes * stride.x, guard)
        .split(y, yo, y, rows_of_band(tile, context), guard)
        .split(y, ys, y, stride.y, guard);
    tasks_of_bands(out, context, {x, y, xo, ys, c, n}, bands_of_task(tile, context), yo, band,
                   task);
    out.vectorize(x).unroll(y);
    stages.across.compute_at(out, xo)
        .bound_extent(x, lanes * stride.x)
        .bound_extent(y, stride.y)
        .split(x, x, odd, stride.x, round_up)
        .reorder(odd, x, y)
        .vectorize(x)
        .unroll(odd)
        .unroll(y);
    const Var phase = stages.folded.args()[3];
    stages.folded.compute_at(out, xo)
        .bound_extent(x, lanes)
        .bound_extent(phase, stride.x)
        .bound_extent(y, stride.y)
        .vectorize(x)
        .unroll(phase)
        .unroll(y);
    Stage taps = stages.folded.update();
    taps.reorder(x, stages.taps.x, stages.taps.y, phase, y).vectorize(x).unroll(phase).unroll(y);
    unroll_window(taps, stages.taps);
    const auto of_band = [&](Func &rows, int vector) {
        rows.compute_at(out, band)
            .hoist_storage(out, task)
            .split(x, xo, x, vector, round_up)
            .vectorize(x)
            .never_partition(y);
    };
    of_band(stages.given, lanes);
    if (!stages.dense.defined()) return;
    of_band(stages.dense, lanes);
    of_band(stages.around, natural);
    stages.limit.compute_at(stages.dense, xo).bound_extent(x, lanes).vectorize(x);
    stages.window.compute_at(stages.dense, xo).bound_extent(x, lanes).vectorize(x);
    Stage scan = stages.window.update();
    scan.reorder(x, stages.r.x, stages.r.y).vectorize(x);
    unroll_window(scan, stages.r);
}

// Vectors of channels, several side by side, the last of which begin before the end of those before
// them: images have as many. What a row of windows has found is there for the next row of pixels;
// where windows don't overlap it stays in registers. Lost: fewer channels under a mask, whose sums
// are then in memory; gradients of windows kept beside places, which leave the first cache.
void phases_of_channels(Pool2dBackward &stages, const Pool2dContext &context) {
    const PhaseTile tile = choose(context);
    const Strides stride = known_strides(context);
    const int lanes = tile.lanes, block = tile.lanes * tile.vectors;
    constexpr auto last = TailStrategy::ShiftInwards;
    const Var co("co"), kv("kv"), xo("xo"), yo("yo"), ys("ys"), band("band"), task("task");
    Func &out = stages.output;
    out.compute_root()
        .split(c, co, c, block, last)
        .split(c, kv, c, lanes, last)
        .split(x, xo, x, stride.x, guard)
        .split(y, yo, y, rows_of_band(tile, context), guard)
        .split(y, ys, y, stride.y, guard);
    tasks_of_bands(out, context, {c, kv, x, y, co, xo, ys, n}, bands_of_task(tile, context), yo,
                   band, task);
    out.vectorize(c).unroll(kv).unroll(x).unroll(y);
    const auto in_registers = [&](Stage of) {
        of.split(c, kv, c, lanes, guard).vectorize(c).unroll(kv);
        return of;
    };
    const Var phase = stages.folded.args()[3];
    stages.folded.compute_at(out, co)
        .bound_extent(c, block)
        .bound_extent(x, 1)
        .bound_extent(phase, stride.x)
        .bound_extent(y, stride.y);
    in_registers(stages.folded).unroll(phase).unroll(y);
    Stage taps = in_registers(stages.folded.update());
    taps.reorder(c, stages.taps.x, stages.taps.y, phase, y, kv).unroll(phase).unroll(y);
    unroll_window(taps, stages.taps);
    Func &kept = stages.dense.defined() ? stages.dense : stages.given;
    const bool apart = context.kernel_w <= stride.x && context.kernel_h <= stride.y;
    if (apart) {
        in_registers(kept.compute_at(out, co).bound_extent(c, block));
    } else {
        kept.store_at(out, band)
            .compute_at(out, ys)
            .hoist_storage(out, task)
            .split(c, co, c, block, last)
            .split(c, kv, c, lanes, last)
            .vectorize(c)
            .unroll(kv);
    }
    if (!stages.dense.defined()) return;
    const LoopLevel around(apart ? out : kept, co);
    stages.limit.compute_at(around);
    stages.window.compute_at(around);
    for (Func *of : {&stages.limit, &stages.window}) in_registers(of->bound_extent(c, block));
    Stage scan = in_registers(stages.window.update());
    scan.reorder(c, stages.r.x, stages.r.y, kv);
    unroll_window(scan, stages.r);
}

}  // namespace

void pool2d_backward_by_phases(Pool2dBackward &stages, const Pool2dContext &context) {
    context.nhwc ? phases_of_channels(stages, context) : phases_of_columns(stages, context);
}

}  // namespace hk::schedules::cpu
