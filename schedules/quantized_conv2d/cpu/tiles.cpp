#include "schedules/conv2d/matrix_block.h"
#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// Of a line, whose tiles lie side by side, or of images.
MatrixBlock choose(const QuantizedConv2dContext &context, bool line) {
    MatrixBlock block = {kTileRows, 1, 2, 0, 1280};
    if (line) block = {kTileRows, 2, 1, 4, 512};
    take_knobs(block, context, 2, line ? 1 : 2);
    return block;
}

}  // namespace

int quantized_tiles_columns(const QuantizedConv2dContext &context) {
    return choose(context, true).width();
}

namespace cpu {

// As schedules/conv2d/cpu/tiles.cpp, of bytes: a step has 64 channels. The padded copy of a task
// flips bytes of s8, and fills up slices.
void quantized_tiles(QuantizedConv2dSlices &stages, const QuantizedConv2dContext &context) {
    constexpr auto guard = TailStrategy::GuardWithIf;
    const bool line = stages.products.args().size() == 6;
    const MatrixBlock block = choose(context, line);
    const int lanes = context.target.natural_vector_size<float>();
    const Var xo("xo"), yo("yo"), kb("kb"), rows("rows");
    Func &out = stages.output;
    out.split(x, xo, x, block.width(), guard)
        .split(y, yo, y, block.height(), guard)
        .split(k, kb, k, kBlockFilters, guard)
        .vectorize(k);
    split_in_passes(
        out, block, block.of_pass(stages.out_w, stages.out_h, stages.filters, stages.filter_bytes));
    out.never_partition_all();
    schedule_filters(stages, context, LoopLevel::root(), k);
    stages.filter_sum.compute_root();
    stages.filter_sum.update()
        .atomic()
        .reorder(stages.filter_r[0], k)
        .vectorize(stages.filter_r[0])
        .vectorize(k, lanes, TailStrategy::RoundUp);
    stages.window_sum.compute_at(out, xo);
    stages.activated.compute_at(out, x).bound_extent(k, kBlockFilters).vectorize(k);
    stages.activated.specialize(context.plain && context.unsigned_bytes);
    stages.activated.specialize(context.plain);
    hold(stages.products, block, LoopLevel(out, kb),
         {stages.byte, stages.word, stages.slices, stages.s, stages.r});
    if (line) {
        stages.products.bound(x, 0, block.width()).bound_extent(stages.tile, 1);
        return;
    }
    stages.products.bound_extent(x, block.width());
    stages.padded.compute_at(out, rows).vectorize(c, kSliceBytes, TailStrategy::RoundUp);
}

}  // namespace cpu

}  // namespace hk::schedules
