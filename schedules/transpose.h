#pragma once
// Schedule of the steps of generators/transpose.h.

#include "generators/transpose.h"

namespace hk::schedules {

struct TransposedTile {
    int width, rows;
};

// In each turn of a loop, which takes one tile: `rest` are the steps' further arguments where their
// bounds alone do not say so.
inline void transpose_at(const Halide::LoopLevel &loop, std::vector<Halide::Func> &steps,
                         TransposedTile tile, const std::vector<Halide::Var> &rest = {}) {
    using generators::element, generators::row;
    const int extents[] = {tile.width, tile.width * tile.rows}, lanes[] = {tile.width, tile.rows};
    for (int i = 0; i < 2; i++) {
        steps[i].compute_at(loop).bound_extent(element, extents[i]).vectorize(element, lanes[i]);
        steps[i].unroll(element).unroll(row);
        for (const Halide::Var &var : rest) steps[i].bound_extent(var, 1);
    }
}

// The further arguments of all steps, of which a turn of the loop has one tile alone.
inline std::vector<Halide::Var> arguments_of_tiles(const std::vector<Halide::Func> &steps) {
    const std::vector<Halide::Var> arguments = steps.front().args();
    return {arguments.begin() + 2, arguments.end()};
}

}  // namespace hk::schedules
