#pragma once
// Schedules of the algorithm in generators/topk/topk_tiles.h.

#include "generators/topk/topk_tiles.h"
#include "schedules/schedule.h"

namespace hk::schedules {

// The items of a tile: 1024, or the knob `tile`; eight where nothing is staged. How many of them
// are kept: all, or the knob `keep`.
struct TopKTile {
    int items, keep;

    int places() const {  // of generators/topk/topk_tiles.h's sorted
        return generators::TopKTiles::padded(generators::TopKTiles::places(items, keep));
    }
};
TopKTile topk_tile(const Context &context);

namespace gpu {
void topk_tiles(generators::TopKTiles &stages, const Context &context);
void topk_tiles_unstaged(generators::TopKTiles &stages, const Context &context);
}  // namespace gpu

void topk_tiles_root(generators::TopKTiles &stages, const Context &context);

// By the names of the table.
inline const Table<generators::TopKTiles, Context> topk_tiles_schedules = {
    {"root", topk_tiles_root}, {"staged", gpu::topk_tiles}, {"unstaged", gpu::topk_tiles_unstaged}};

}  // namespace hk::schedules
