#pragma once
// Schedule of generators/conv2d/transposed_groups.h.

#include "generators/conv2d/transposed_groups.h"
#include "schedules/transpose.h"

namespace hk::schedules {

// Arguments of a step of which a turn of a loop has one.
inline std::vector<Halide::Var> tile_and_block(const std::vector<Halide::Func> &steps) {
    const std::vector<Halide::Var> arguments = steps.front().args();
    return {arguments[2], arguments[3]};
}

// All of them, of steps that take one tile alone.
inline std::vector<Halide::Var> arguments_of_tiles(const std::vector<Halide::Func> &steps) {
    const std::vector<Halide::Var> arguments = steps.front().args();
    return {arguments.begin() + 2, arguments.end()};
}

// A tile at a time, of one block of groups.
inline void transpose_groups(Halide::Func &padded, generators::TransposedTiles &tiles) {
    using generators::c, generators::g, generators::n, generators::y;
    const int lanes = tiles.groups;
    padded.align_bounds(g, lanes)
        .bound_extent(g, lanes)
        .vectorize(g, lanes)
        .update()
        .reorder(g, tiles.r.x, tiles.r.y, c, y, n)
        .vectorize(g, lanes)
        .unroll(tiles.r.x);
    transpose_at(Halide::LoopLevel(padded, tiles.r.y), tiles.there, {tiles.columns, lanes},
                 tile_and_block(tiles.there));
}

}  // namespace hk::schedules
