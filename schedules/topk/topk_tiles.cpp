#include "schedules/topk/topk_tiles.h"

using namespace hk::generators;

namespace hk::schedules {

// The baseline: a tile after the other.
void topk_tiles_root(TopKTiles &stages, const Context &context) {
    stages.sorted.compute_at(stages.items, stages.tile)
        .bound_extent(stages.place, TopKTiles::padded(topk_tile(context)));
    stages.best.compute_at(stages.items, stages.tile);
    stages.first.compute_at(stages.items, stages.tile);
}

int topk_tile(const Context &context) {
    const bool staged = context.schedule != "unstaged";
    int tile = staged ? 1024 : TopKTiles::slots;
    Knobs knobs(context.knobs);
    knobs.take("tile", tile, powers(TopKTiles::slots, staged ? 4096 : TopKTiles::slots));
    knobs.end();
    return tile;
}

}  // namespace hk::schedules
