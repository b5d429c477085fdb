#pragma once
// Convolutions whose vectors are of input channels, in the filter as in the image, so that neither
// is packed: for few pixels and long sums. The price is adding up the lanes of each sum at the end,
// about 8 cycles an output, which short sums don't pay back.

#include "generators/letters.h"
#include "schedules/convolution_sizes.h"

namespace hk::schedules::cpu {

// Registers of AVX-512: 4 * 7 sums and the 4 vectors of the filter; 28 multiplications for 11
// loads.
struct DotTile {
    int k;     // output channels
    int x, y;  // pixels
    int rows;  // of a task, of all filters; 0: tasks are blocks of filters, of a whole image
};

inline DotTile dot_tile(const Conv2dSizes &context) {
    const int lanes = context.target.natural_vector_size<float>();
    DotTile tile = lanes >= 16 ? DotTile{4, 7, 1, 0} : DotTile{4, 3, 1, 0};
    Knobs knobs(context.knobs);
    knobs.take("tile_k", tile.k, powers(1, 4));
    knobs.take("tile_x", tile.x, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16});
    knobs.take("tile_y", tile.y, steps(1, 4));
    knobs.take("rows", tile.rows, {0, 1, 2, 4, 8, 16, 32});
    knobs.end();
    knobs.require(tile.rows == 0 || (tile.k == 1 && tile.y == 1),
                  "rows of a task are of any number of filters: tile_k and tile_y are 1");
    knobs.estimate("vector registers", tile.k * tile.x * tile.y + tile.k,
                   vector_registers(context.target));
    return tile;
}

// Blocks of filters are outermost: they stay in the first two caches while the image streams. Few
// filters are all in registers, or in the first cache: tasks are rows.
inline void tile_dots(Halide::Func &out, const DotTile &tile) {
    using namespace hk::generators;
    constexpr auto guard = Halide::TailStrategy::GuardWithIf;
    const Halide::Var xo("xo"), yo("yo"), kb("kb");
    out.split(x, xo, x, tile.x, guard).split(k, kb, k, tile.k, guard).vectorize(k);
    if (tile.rows == 0) {
        out.split(y, yo, y, tile.y, guard).reorder(k, x, y, xo, yo, kb, g, n).fuse(kb, g, kb);
        out.parallel(kb);
        return;
    }
    out.split(y, yo, y, tile.rows, guard).reorder(k, x, kb, xo, y, yo, g, n);
    out.fuse(yo, g, yo).fuse(yo, n, yo).parallel(yo);
}

// All but the update of the sums' lanes, which it returns, and what starts them.
template<typename Stages>
Halide::Stage sum_by_lanes(Stages &stages, const Conv2dSizes &context, const Halide::Expr &plain) {
    using namespace hk::generators;
    const DotTile tile = dot_tile(context);
    const int lanes = context.target.natural_vector_size<float>();
    const Halide::Var of_tile(tile.rows ? "kb" : "xo");
    Halide::Func &out = stages.output;
    tile_dots(out, tile);
    stages.activated.compute_at(out, x).bound_storage(k, tile.k).vectorize(k).specialize(plain);
    for (Halide::Func *f : {&stages.sum, &stages.folded, &stages.lanes})
        f->compute_at(out, of_tile)
            .bound_extent(k, tile.k)
            .bound_extent(x, tile.x)
            .bound_extent(y, tile.y)
            .unroll(x)
            .unroll(y);
    stages.sum.vectorize(k);
    stages.folded.vectorize(stages.lane, lanes / 4);
    stages.folded.unroll(k);
    stages.lanes.vectorize(stages.lane).unroll(k);
    return stages.lanes.update();
}

}  // namespace hk::schedules::cpu
