#include "schedules/conv2d/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

constexpr int kRows = 16;                    // of a tile: pixels
constexpr int kBlock = 2 * kFilterBlock;     // filters
constexpr int kOutputs = 2 * kFilterBlock;   // of a vector

struct MatrixBlock {
    int stage;  // copy the padded input first, 2: of a task; 0: read it where it is
    int x, y;   // tiles of pixels
    int chunk;  // blocks of a row in a task; 0: all
    int panel;  // KB of the filter in a pass over the pixels
};

MatrixBlock choose(const Conv2dContext &context) {
    MatrixBlock block = {2, 1, 2, 0, 512};
    Knobs knobs(context.knobs);
    knobs.take("stage", block.stage, {0, 2});
    knobs.take("tiles_x", block.x, {1, 2});
    knobs.take("tiles_y", block.y, {1, 2});
    knobs.take("chunk", block.chunk, {0, 1, 2, 4, 8, 16, 32});
    knobs.take("panel", block.panel, {128, 256, 512, 768, 1024, 2048});
    knobs.end();
    return block;
}

}  // namespace

namespace cpu {

PackedSum tiles_sum(const Conv2dContext &context) {
    const MatrixBlock block = choose(context);
    PackedSum sum{kFilterBlock, false};
    sum.pairs = Pairs::slices;
    sum.columns = block.stage == 0 ? block.x * kRows : 0;
    sum.rounds_vectors = context.schedule == "tiles";
    return sum;
}

void tiles(Conv2d &stages, const Conv2dContext &context) {
    const MatrixBlock block = choose(context);
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const Var xo("xo"), xc("xc"), yo("yo"), kv("kv"), kb("kb"), kp("kp"), rows("rows");
    const Var row("tile_row"), kt("kt"), xt("xt");
    Func &out = stages.output;
    const Expr of_pass = max(block.panel * 512 / stages.filter_bytes, 1);
    out.split(x, xo, x, block.x * kRows, guard)
        .split(y, yo, y, block.y, guard)
        .split(k, kb, k, kBlock, guard)
        .vectorize(k)
        .split(kb, kp, kb, of_pass, guard);
    if (block.chunk)
        out.split(xo, xc, xo, block.chunk, guard);
    else
        out.split(yo, yo, xc, 1);
    out.reorder(k, x, y, kb, xo, xc, yo, n, kp, g);
    out.fuse(xc, yo, rows).fuse(rows, n, rows).parallel(rows);
    out.never_partition_all();
    stages.start.compute_root();
    stages.activated.compute_at(out, x).vectorize(k).bound_extent(k, kOutputs);
    by_activation(stages.activated, context);

    Func &sum = stages.sum;
    sum.compute_at(out, kb)
        .store_in(MemoryType::Stack)
        .bound_extent(k, kBlock)
        .align_bounds(k, kBlock)
        .bound_extent(y, block.y);
    if (block.stage == 0)
        sum.bound(x, 0, block.x * kRows).bound_extent(stages.tile, 1);
    else
        sum.bound_extent(x, block.x * kRows);
    for (int update = -1; update < 1; update++) {
        Stage stage = update < 0 ? Stage(sum) : sum.update();
        stage.split(x, xt, row, kRows).split(k, kt, k, kFilterBlock);
        if (update < 0)
            stage.reorder(k, row, kt, xt, y).vectorize(k);
        else
            stage.reorder(*stages.of_pair, stages.rc, k, row, kt, xt, y, stages.slices, stages.rs,
                          stages.rr);
        stage.unroll(kt).unroll(xt).unroll(y);
    }
    if (block.stage) {
        stages.padded.compute_at(out, rows)
            .align_storage(c, kSliceChannels)
            .vectorize(c, kSliceChannels, guard)
            .update()
            .unscheduled();
    }
}

}  // namespace cpu

}  // namespace hk::schedules
