#include "schedules/quantized_conv2d/quantized_conv2d.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules {

namespace {

// Registers of AVX-512: 4 * 7 sums and the 4 vectors of the filter; 28 multiplications for 11
// loads.
struct DotTile {
    int k;     // output channels
    int x, y;  // pixels
};

DotTile choose(const QuantizedConv2dContext &context) {
    const int lanes = quantized_dot_lanes(context);
    DotTile tile = lanes >= 16 ? DotTile{4, 7, 1} : DotTile{4, 3, 1};
    Knobs knobs(context.knobs);
    knobs.take("tile_k", tile.k, powers(1, 8));
    knobs.take("tile_x", tile.x, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16});
    knobs.take("tile_y", tile.y, steps(1, 4));
    knobs.end();
    knobs.estimate("vector registers", tile.k * tile.x * tile.y + tile.k,
                   vector_registers(context.target));
    return tile;
}

}  // namespace

int quantized_dot_lanes(const QuantizedConv2dContext &context) {
    return context.target.natural_vector_size<float>();
}

namespace cpu {

// Vectors of input channels, in the filter as in the image, so that the filter is not copied: for
// few pixels and long sums (schedules/conv2d/cpu/dot.cpp).
void quantized_dot(QuantizedConv2dDot &stages, const QuantizedConv2dContext &context) {
    const DotTile tile = choose(context);
    const int lanes = quantized_dot_lanes(context);
    const TailStrategy round_up = TailStrategy::RoundUp;
    Func &out = stages.output;
    const Var xo("xo"), yo("yo"), kb("kb"), rows("rows");
    const RDom &d = stages.r;

    out.split(x, xo, x, tile.x, TailStrategy::GuardWithIf)
        .split(y, yo, y, tile.y, TailStrategy::GuardWithIf)
        .split(k, kb, k, tile.k, TailStrategy::GuardWithIf)
        .reorder(k, x, y, xo, yo, kb, g, n)
        .fuse(kb, g, kb)
        .vectorize(k)
        .parallel(kb);
    schedule_filters(stages, context, LoopLevel::root(), k);
    if (context.integer) {
        stages.filter_sum.compute_root();
        stages.window_sum.compute_at(out, n);
    }
    stages.activated.compute_at(out, x).bound_storage(k, tile.k).vectorize(k).specialize(
        context.plain);
    for (Func *f : {&stages.sum, &stages.folded, &stages.lanes})
        f->compute_at(out, xo)
            .bound_extent(k, tile.k)
            .bound_extent(x, tile.x)
            .bound_extent(y, tile.y)
            .unroll(x)
            .unroll(y);
    stages.sum.vectorize(k);
    stages.folded.vectorize(stages.lane, lanes / 4);
    stages.folded.unroll(k);
    stages.lanes.vectorize(stages.lane).unroll(k);
    Stage update = stages.lanes.update();
    if (context.integer)
        update.atomic().reorder(d.x, stages.lane, k, x, y, d.y, d.z, d.w).vectorize(d.x);
    else
        update.reorder(d.x, stages.lane, k, x, y, d.y, d.z, d.w).unroll(d.x);
    update.vectorize(stages.lane).unroll(k).unroll(x).unroll(y);
    stages.padded.compute_at(out, n)
        .vectorize(c, context.integer ? 4 * lanes : lanes, round_up)
        .parallel(y);
}

}  // namespace cpu

}  // namespace hk::schedules
