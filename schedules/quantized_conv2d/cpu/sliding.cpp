#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct DepthwiseTile {
    int vectors;  // of groups, side by side
    int x, y;     // pixels
    int words;    // of the input: 1 made for each output, 2 shared by outputs
    int unroll;   // 1: the words of a row, where their number is known
};

DepthwiseTile choose(const QuantizedConv2dContext &context) {
    DepthwiseTile tile = {1, 7, 1, 1, 0};
    // Tiles are no wider than the output.
    const int columns = context.width / std::max(context.stride_x, 1);
    Knobs knobs(context.knobs);
    knobs.take("vectors", tile.vectors, steps(1, 4));
    knobs.take("tile_x", tile.x, steps(1, columns > 0 ? std::min(columns, 16) : 16));
    knobs.take("tile_y", tile.y, steps(1, 4));
    knobs.take("words", tile.words, {1, 2});
    knobs.take("unroll", tile.unroll, {0, 1});
    knobs.end();
    // Without AVX-512 a row of words is too much code to unroll.
    const int lanes = context.target.natural_vector_size<float>();
    if (lanes < 16) tile.unroll = 0;
    const int registers = vector_registers(context.target);
    if (sums_halves(context)) {
        tile.vectors = std::max(kFilterBlock / lanes, 1);
        tile.x = std::min(tile.x, (registers - 2) / tile.vectors);
        tile.y = 1;
    }
    const int stride = context.stride_x;
    knobs.require(tile.words == 1 || (stride == context.stride_y && (stride == 1 || stride == 2) &&
                                      context.dilation_x == 1 && context.dilation_y == 1),
                  "words:2 takes a known stride of 1 or 2, and no dilation");
    knobs.require(!tile.unroll || context.width > 0, "unroll:1 takes a known width");
    knobs.estimate("vector registers", tile.vectors * tile.x * tile.y + 2, registers);
    return tile;
}

}  // namespace

DepthwiseWords quantized_depthwise_words(const QuantizedConv2dContext &context) {
    if (sums_halves(context)) return DepthwiseWords::rows;
    if (!context.integer || context.schedule != "sliding" || choose(context).words == 1)
        return DepthwiseWords::columns;
    return context.stride_x == 2 ? DepthwiseWords::squares : DepthwiseWords::pairs;
}

namespace cpu {

// Vectors of groups. A row of the input is spread once into words, so that a row of a 3x3 filter is
// one vpdpbusd: three for an output instead of nine multiplications. The words are kept while the
// filter's window slides over the rows. Half of the time is what follows the sum, a quarter the
// words, and so they are shared: a word of four columns serves two outputs (stride 1: 100 GOP/s
// instead of 75 at 28x28x192; bench --family quantized_conv2d --list mobilenetv2), and one of 2 x 2
// numbers four (stride 2: 54 instead of 42 at 14x14x576, though a sum then takes four words instead
// of three). It takes columns that are known, in multiples of the tile.
//
// The same command, one Zen 4 core, u8 to u8, 3x3: stride 1 101 to 107 GOP/s at 112x112 to 28x28,
// 86 at 14x14, 72 at 7x7; stride 2 55 to 67. Any width: 85 at 112x112x32, 72 at 56x56x144, 77 at
// 28x28x192 (four vectors side by side read the input in whole ones; a single one: 65). Lost: all
// words of an image first (51 at 28x28x192); shared words where the width is not known (58 at
// 56x56x144).
//
// Where sums are halves, words are pairs of rows: any stride and dilation, nothing to add up across
// lanes, and a pair serves all columns of the filter.
//
// f32: the input is read where it lies, as in schedules/conv2d/cpu/sliding.cpp. What it
// reaches: bench --family quantized_conv2d --type f32 --filter depthwise.
void quantized_sliding(QuantizedConv2dDepthwise &stages, const QuantizedConv2dContext &context) {
    const DepthwiseTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>();
    const TailStrategy round_up = TailStrategy::RoundUp;
    const TailStrategy inwards = TailStrategy::ShiftInwards;
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), gb("gb"), rows("rows");
    const RDom &d = stages.r;

    out.split(x, xo, x, tile.x, inwards)
        .split(y, yo, y, tile.y, inwards)
        .split(g, gb, g, tile.vectors * lanes, inwards)
        .reorder(g, x, y, xo, yo, k, gb, n)
        .vectorize(g)
        .unroll(x)
        .unroll(y);
    out.fuse(gb, n, rows).parallel(rows);
    // A copy of all loops, for what comes most often. Words of 2 x 2 numbers, and channels that are
    // gathered, are as fast with a branch a tile, and half of the code.
    const bool branches = !context.nhwc || (context.integer && context.stride_x == 2);
    if (!branches) out.specialize(context.plain && context.unsigned_bytes);
    stages.activated.compute_at(out, xo)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .vectorize(g, lanes, round_up)
        .unroll(g)
        .unroll(x)
        .unroll(y);
    if (branches) stages.activated.specialize(context.plain && context.unsigned_bytes);
    stages.activated.specialize(context.plain);
    stages.sum.compute_at(out, xo)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .vectorize(g, lanes, round_up)
        .unroll(g)
        .unroll(x)
        .unroll(y);
    Stage update = stages.sum.update();
    if (context.integer)
        update.atomic().reorder(d.x, g, x, y, d.y, d.z).vectorize(d.x);
    else
        update.reorder(d.x, g, x, y, d.y, d.z).unroll(d.x);
    update.vectorize(g, lanes, round_up).unroll(g).unroll(x).unroll(y);
    if (context.kernel_w > 0 && context.kernel_h > 0) update.unroll(d.y).unroll(d.z);
    schedule_filters(stages, context, LoopLevel(out, rows), g);
    const int word = stages.word;
    stages.packed.compute_at(out, rows)
        .align_bounds(element, word)
        .vectorize(element, word * lanes, round_up)
        .specialize(context.dense_filters);
    if (context.integer) {
        stages.taps.store_at(out, rows)
            .compute_at(out, yo)
            .align_bounds(element, word)
            .vectorize(element, word * lanes, round_up)
            .unroll(element);
        if (tile.unroll) stages.taps.unroll(x);
        stages.filter_sum.compute_at(out, rows)
            .vectorize(g, lanes, round_up)
            .update()
            .reorder(g, stages.filter_r.x)
            .vectorize(g, lanes, round_up)
            .specialize(context.dense_filters);
        stages.window_sum.compute_at(out, xo)
            .vectorize(g, lanes, round_up)
            .update()
            .vectorize(g, lanes, round_up);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
