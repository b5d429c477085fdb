#include "schedules/conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

struct DepthwiseTile {
    int vectors;  // of groups, side by side
    int x, y;     // pixels
    int stage;    // 1: copy the padded input of a band of rows first
};

DepthwiseTile choose(const Conv2dContext &context) {
    DepthwiseTile tile{1, 4, 1, 0};
    Knobs knobs(context.knobs);
    knobs.take("vectors", tile.vectors);
    knobs.take("tile_x", tile.x);
    knobs.take("tile_y", tile.y);
    knobs.take("stage", tile.stage);
    knobs.end();
    return tile;
}

}  // namespace

namespace cpu {

void depthwise(Conv2dDepthwise &stages, const Conv2dContext &context) {
    const DepthwiseTile tile = choose(context);
    const int lanes = context.target.natural_vector_size<float>();
    const TailStrategy round_up = TailStrategy::RoundUp;
    const TailStrategy inwards = TailStrategy::ShiftInwards;
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), gb("gb"), gv("gv"), rows("rows");
    const RDom &d = stages.r;

    out.split(x, xo, x, tile.x, inwards)
        .split(y, yo, y, tile.y, inwards)
        .split(g, gb, g, tile.vectors * lanes, inwards)
        .split(g, gv, g, lanes)
        .reorder(g, gv, x, y, xo, yo, k, gb, n)
        .vectorize(g)
        .unroll(gv)
        .unroll(x)
        .unroll(y);
    out.fuse(gb, n, rows).parallel(rows).specialize(context.plain);
    stages.start.compute_at(out, rows).vectorize(g, lanes, round_up);
    stages.activated.compute_at(out, xo)
        .vectorize(g, lanes, round_up)
        .specialize(context.plain)
        .unroll(g)
        .unroll(x)
        .unroll(y);
    stages.sum.compute_at(out, xo)
        .bound_extent(x, tile.x)
        .bound_extent(y, tile.y)
        .bound_extent(g, tile.vectors * lanes)
        .vectorize(g, lanes, round_up)
        .unroll(g)
        .unroll(x)
        .unroll(y);
    stages.sum.update()
        .reorder(g, x, y, d.x, d.y)
        .vectorize(g, lanes, round_up)
        .unroll(g)
        .unroll(x)
        .unroll(y)
        .unroll(d.x)
        .unroll(d.y);
    stages.packed.compute_at(out, rows).bound_extent(g, tile.vectors * lanes).vectorize(g, lanes, round_up);
    if (tile.stage == 1) stages.padded.compute_at(out, yo).vectorize(g, lanes, round_up);
    if (tile.stage == 2) stages.padded.store_at(out, rows).compute_at(out, yo).vectorize(g, lanes, round_up);
}

}  // namespace cpu

}  // namespace hk::schedules
