#include "schedules/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct DepthwiseTile {
    int vectors;  // of groups, side by side
    int x, y;     // pixels
    int stage;    // taps: 1 a row at a time, 2 the whole image first
    int pad;      // 1: the rows' edges are padded in a buffer first
};

DepthwiseTile choose(const QuantizedConv2dContext &context) {
    DepthwiseTile tile = {1, 7, 1, 1, 0};
    Knobs knobs(context.knobs);
    knobs.take("vectors", tile.vectors);
    knobs.take("tile_x", tile.x);
    knobs.take("tile_y", tile.y);
    knobs.take("stage", tile.stage);
    knobs.take("pad", tile.pad);
    knobs.end();
    return tile;
}

}  // namespace

namespace cpu {

// Vectors of groups. A row of the input is spread once into words of the columns that one output
// reads, so that a row of a 3x3 filter is one vpdpbusd: three for an output instead of nine
// multiplications. The words are kept while the filter's window slides over the rows.
//
// One Zen 4 core, 3x3 u8 to u8: 83 GOP/s at 112x112x32, 72 at 56x56x144, 77 at 28x28x192 (four
// vectors side by side read the input in whole ones; a single one: 65). A third of the time is what
// follows the sum, a quarter the words. Lost: all words of an image first (51 at 28x28x192).
void quantized_depthwise(QuantizedConv2dDepthwise &stages, const QuantizedConv2dContext &context) {
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
    out.fuse(gb, n, rows).parallel(rows).specialize(context.plain);
    stages.sum.compute_at(out, xo).vectorize(g, lanes, round_up).unroll(g).unroll(x).unroll(y);
    Stage update = stages.sum.update();
    if (context.integer)
        update.atomic().reorder(d.x, g, x, y, d.y, d.z).vectorize(d.x);
    else
        update.reorder(d.x, g, x, y, d.y, d.z).unroll(d.x);
    update.vectorize(g, lanes, round_up).unroll(g).unroll(x).unroll(y);
    if (context.kernel_w > 0 && context.kernel_h > 0) update.unroll(d.y).unroll(d.z);
    schedule_filters(stages, context, LoopLevel(out, rows), g);
    const int word = context.integer ? 4 : 1;
    for (Func *f : {&stages.packed, &stages.taps})
        f->align_bounds(element, word).vectorize(element, word * lanes, round_up);
    stages.packed.compute_at(out, rows);
    stages.taps.store_at(out, rows).unroll(element);
    if (tile.stage == 1)
        stages.taps.compute_at(out, yo);
    else
        stages.taps.compute_at(out, rows);
    if (tile.pad)
        stages.padded.store_at(out, rows)
            .compute_at(out, tile.stage == 1 ? yo : rows)
            .vectorize(g, lanes * tile.vectors, round_up);
    if (context.integer) {
        stages.filter_sum.compute_at(out, rows).vectorize(g, lanes, round_up).update().reorder(g, stages.filter_r.x).vectorize(g, lanes, round_up);
        stages.window_sum.compute_at(out, xo).vectorize(g, lanes, round_up).update().vectorize(g, lanes, round_up);
    }
}

}  // namespace cpu

}  // namespace hk::schedules
