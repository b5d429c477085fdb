#include "schedules/conv2d/matrix_block.h"

#include "generators/ceil_div.h"
#include "generators/letters.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

Expr MatrixBlock::of_pass(const Expr &out_w, const Expr &out_h, const Expr &filters,
                          const Expr &bytes) const {
    constexpr int tasks_of_thread = 4;
    const Expr blocks = ceil_div(filters, kBlockFilters);
    const Expr most = max(panel * 1024 / (2 * bytes), 1);
    const Expr threads = number_of_threads(), rows = ceil_div(out_h, height());
    const Expr parts = chunk ? ceil_div(out_w, chunk * width()) : Expr(1);
    const Expr tasks = select(threads > 1, ceil_div(tasks_of_thread * threads, rows * parts), 1);
    return ceil_div(blocks, max(ceil_div(blocks, most), tasks));
}

void split_in_passes(Func out, const MatrixBlock &block, const Expr &blocks_of_pass) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const Var xo("xo"), xc("xc"), yo("yo"), kb("kb"), kp("kp"), rows("rows");
    out.split(kb, kp, kb, blocks_of_pass, guard);
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

void take_knobs(MatrixBlock &block, const Conv2dSizes &context, int most_x, int most_y) {
    Knobs knobs(context.knobs);
    knobs.take("tiles_x", block.x, steps(1, most_x));
    knobs.take("tiles_y", block.y, steps(1, most_y));
    knobs.take("chunk", block.chunk, {0, 1, 2, 4, 8, 16, 32});
    knobs.take("panel", block.panel, {256, 512, 1024, 1280, 1536, 2048});
    knobs.end();
    knobs.require(block.x * block.y <= 2, "tiles are 1 or 2");
}

void hold(Func sum, const MatrixBlock &block, const LoopLevel &at, const MatrixSteps &steps) {
    const Var row("tile_row"), kt("kt"), xt("xt"), yt("yt");
    sum.compute_at(at)
        .store_in(MemoryType::Stack)
        .bound_extent(k, kBlockFilters)
        .align_bounds(k, kBlockFilters)
        .bound_extent(y, block.height());
    for (int update = -1; update < 1; update++) {
        Stage stage = update < 0 ? Stage(sum) : sum.update();
        std::vector<VarOrRVar> loops = {k, x, row, kt, xt, yt};
        stage.split(k, kt, k, kFilterBlock);
        if (block.columns == kTileRows)
            stage.split(x, xt, row, kTileRows).split(y, yt, x, 1);
        else
            stage.split(x, xt, x, block.columns).split(y, yt, row, kTileRows / block.columns);
        if (update < 0) {
            stage.reorder(loops).vectorize(k);
        } else {
            loops.insert(loops.begin(), {steps.part, steps.word});
            loops.insert(loops.end(), {steps.slices, steps.s, steps.r});
            stage.reorder(loops);
        }
        stage.unroll(kt).unroll(xt).unroll(yt);
    }
}

}  // namespace hk::schedules
