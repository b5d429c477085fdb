#pragma once
// Schedule of generators/conv2d/transposed_groups.h.

#include <algorithm>

#include "generators/conv2d/transposed_groups.h"
#include "schedules/schedule.h"
#include "schedules/transpose.h"

namespace hk::schedules {

// What pays for a task of its own, in vectors' multiplications; blocks of groups in one, at most.
inline constexpr int kTaskWork = 8192, kBlocksOfTask = 4;

// Pixels of a block of groups that are summed side by side.
struct TransposedSums {
    int x, y;
};

// As many as there are registers for, of so many rows.
inline TransposedSums transposed_sums(const Context &context, int rows, Knobs &knobs) {
    const int registers =
        generators::kTransposedGroups / context.target.natural_vector_size<float>();
    const int available = vector_registers(context.target);
    TransposedSums sums{7, rows};
    sums.x = std::clamp(available / 2 / (registers * sums.y), 1, sums.x);
    knobs.take("tile_x", sums.x, steps(1, 16));
    knobs.take("tile_y", sums.y, steps(1, 8));
    Knobs::estimate("vector registers", registers * sums.x * sums.y + 2, available);
    return sums;
}

// Arguments of a step of which a turn of a loop has one.
inline std::vector<Halide::Var> tile_and_block(const std::vector<Halide::Func> &steps) {
    const std::vector<Halide::Var> arguments = steps.front().args();
    return {arguments[2], arguments[3]};
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
