#include "schedules/topk/topk.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::cpu {

namespace {

constexpr auto round_up = TailStrategy::RoundUp;
const Var c("c"), co("co"), column("column"), j("j"), lane("lane");

// A stage of one row. Else Halide takes its rows for what C++ says at run time.
Func of_row(Func stage) { return stage.bound_extent(x, 1).bound_extent(y, 1); }

// Per vector of floats the largest take a comparison and a subtraction for the sign, another and a
// move for NaN, and the maximum; else there is an exclusive or. A single long row is split between
// threads; many rows are tasks of their own.
void best_of_chunks(TopKChunks &chunks, const Expr &is_long, int lanes) {
    constexpr int kTask = 1024;
    of_row(chunks.rank).vectorize(c, lanes, round_up);
    const RVar chunk = chunks.r_full.y, task("task");
    Stage full = chunks.rank.update(0);
    full.atomic().vectorize(chunks.r_full.x);
    for (Stage of : {full.specialize(chunks.largest_float), full}) {
        of.specialize(is_long).split(chunk, task, chunk, kTask).parallel(task);
        for (const int vectors : {1, 2, 4}) of.specialize(chunks.size == vectors * lanes);
    }
    chunks.rank.update(1).atomic().vectorize(chunks.r_rest.x);
    for (Func lane_best : {chunks.lane_best, chunks.lane_rest}) {
        of_row(lane_best).bound_extent(lane, lanes).vectorize(lane).update().vectorize(lane);
    }
    chunks.lane_best.compute_at(chunks.rank, chunk).bound_extent(c, 1);
    chunks.lane_rest.compute_at(chunks.rank, chunks.r_rest.y);
    of_row(chunks.best).vectorize(c, lanes, round_up);
}

void best_of_columns(TopKColumns &columns, int lanes, int vectors) {
    const Var ci("ci");
    columns.best.split(column, co, ci, lanes * vectors, round_up)
        .reorder(ci, co, x, y)
        .vectorize(ci, lanes)
        .unroll(ci)
        .never_partition_all();
    of_row(columns.running)
        .compute_at(columns.best, co)
        .bound_extent(column, lanes * vectors)
        .vectorize(column, lanes)
        .unroll(column);
    columns.running.update(0).reorder(column, columns.r).vectorize(column, lanes).unroll(column);
    columns.running.update(1).vectorize(column, lanes).unroll(column);
}

// Funcs of a threshold but its last: stages that belong to one row, or to a vector of rows.
std::vector<Func> steps_of(const KthLargest &threshold) {
    std::vector<Func> steps(threshold.known.begin(), threshold.known.end() - 1);
    steps.insert(steps.end(), threshold.total.begin(), threshold.total.end());
    steps.insert(steps.end(), threshold.partial.begin(), threshold.partial.end());
    return steps;
}

void threshold_of_row(TopK &stages, int lanes) {
    KthLargest &threshold = stages.threshold;
    if (threshold.known.empty()) return;
    for (Func step : steps_of(threshold)) of_row(step).compute_at(stages.least, x);
    for (Func total : threshold.total) total.update().atomic().vectorize(threshold.r_lane);
    for (Func partial : threshold.partial) {
        partial.vectorize(lane, lanes);
        partial.update().vectorize(lane, lanes);
    }
}

void thresholds_of_rows(TopK &stages, int rows) {
    const Var xo("xo"), xi("xi");
    stages.columns.turned.reorder_storage(x, column, y)
        .reorder(x, column, y)
        .vectorize(x, rows, round_up);
    stages.least.split(x, xo, xi, rows, round_up).vectorize(xi);
    for (Func step : steps_of(stages.threshold))
        step.compute_at(stages.least, xo).bound_extent(x, rows).bound_extent(y, 1).vectorize(x);
    for (Func partial : stages.threshold.partial)
        partial.bound_extent(lane, 1).update().vectorize(x);
    for (Func total : stages.threshold.total) total.update().vectorize(x);
}

}  // namespace

// A task has a row, or 32 short ones, sixteen of which are looked at as columns: all stages
// between its elements and its result stay in the caches, and the calls of C++, which ask for
// bounds before they run, are shared by its rows. One Zen 4 core, bench --family topk, us a row of
// floats: of 50257, k 50, 7.5, of which the pass over the row takes 4, the threshold of 786 maxima
// 1; of 1000000, k 100, 86 (44 for the largest word alone); of 8400, k 300, 9.6; of 1000, k 5, 0.5,
// of which the pass takes a third, thresholds of sixteen rows in the lanes of a vector a fifth.
//
// Lost: maxima of elements a vector apart, whose chunks then lie in 64 cache lines each; the k-th
// best maximum by std::nth_element, where counting takes a quarter of the time; the best of columns
// by insertion, where a guess in two is wrong; scratch for each bit of a threshold in memory (96
// allocations a row, until rows are known to be one).
void topk(TopK &stages, const TopKContext &context) {
    const int lanes = topk_lanes(context);
    const bool in_columns = stages.columns.best.defined();
    int rows = in_columns ? 32 : 1, vectors = 4;
    Knobs knobs(context.knobs);
    // A threshold's stages are of one row, unless they are of columns.
    if (in_columns || stages.threshold.known.empty()) knobs.take("rows", rows, powers(1, 64));
    if (in_columns) {
        knobs.take("vectors", vectors, powers(1, 8));
        knobs.estimate("vector registers", vectors + 1, vector_registers(context.target));
    }
    knobs.end();
    const Var xo("xo"), xi("xi"), row("row");
    Func result = stages.result;
    result.compute_root()
        .split(x, xo, xi, rows, TailStrategy::GuardWithIf)
        .reorder(place, xi, xo, y)
        .fuse(xo, y, row)
        .parallel(row);
    const auto in_rows = [&](Func stage) {
        if (rows == 1) of_row(stage);
        return stage.compute_at(result, row);
    };

    in_rows(stages.sorted);
    in_rows(stages.candidates).vectorize(j, lanes, round_up);
    in_rows(stages.chosen);
    if (in_columns) {
        in_rows(stages.columns.best);
        best_of_columns(stages.columns, lanes, vectors);
    } else if (stages.chunks.best.defined()) {
        in_rows(stages.chunks.rank);
        in_rows(stages.chunks.best);
        best_of_chunks(stages.chunks, context.rows == 1 && stages.chunks.count > 2048, lanes);
    } else {
        stages.candidates.specialize(context.adjacent);
    }
    for (Masks *masks : {&stages.columns.masks, &stages.chunks.masks, &stages.masks}) {
        if (!masks->bits.defined()) continue;
        masks->weight.compute_root();
        in_rows(masks->bits).update().atomic().vectorize(masks->r);
    }
    in_rows(stages.least);
    if (in_columns) {
        in_rows(stages.columns.turned);
        thresholds_of_rows(stages, rows);
    } else {
        threshold_of_row(stages, lanes);
    }
}

}  // namespace hk::schedules::cpu
