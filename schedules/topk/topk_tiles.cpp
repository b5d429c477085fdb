#include "schedules/topk/topk_tiles.h"

using namespace hk::generators;

namespace hk::schedules {

// The baseline: a tile after the other.
void topk_tiles_root(TopKTiles &stages, const Context &context) {
    stages.sorted.compute_at(stages.items, stages.tile)
        .bound_extent(stages.place, topk_tile(context).places());
    stages.best.compute_at(stages.items, stages.tile);
    stages.first.compute_at(stages.items, stages.tile);
}

TopKTile topk_tile(const Context &context) {
    const bool staged = context.schedule != "unstaged";
    TopKTile tile = {staged ? 1024 : TopKTiles::slots, 0};
    Knobs knobs(context.knobs);
    knobs.take("tile", tile.items, powers(TopKTiles::slots, staged ? 4096 : TopKTiles::slots));
    tile.keep = tile.items;
    knobs.take("keep", tile.keep, powers(TopKTiles::slots, tile.items));
    knobs.end();
    return tile;
}

}  // namespace hk::schedules
