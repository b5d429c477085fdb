#include "schedules/topk_tiles.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: a tile after the other.
void root(TopKTiles &stages, const TopKTilesContext &context) {
    stages.sorted.compute_at(stages.items, stages.tile)
        .bound_extent(stages.place, TopKTiles::padded(topk_tile(context)));
    stages.best.compute_at(stages.items, stages.tile);
    stages.first.compute_at(stages.items, stages.tile);
}

}  // namespace

int topk_tile(const TopKTilesContext &context) {
    int tile = 1024;
    Knobs knobs(context.knobs);
    knobs.take("tile", tile);
    knobs.end();
    if (tile < 8 || tile & (tile - 1))
        throw Halide::CompileError("knobs " + context.knobs +
                                   ": a tile is a power of two, at least 8");
    return tile;
}

const Table<TopKTiles, TopKTilesContext> &topk_tiles_schedules() {
    static const Table<TopKTiles, TopKTilesContext> table = {
        {"root", root}, {"gpu", gpu::topk_tiles}, {"gpu_unstaged", gpu::topk_tiles_unstaged}};
    return table;
}

}  // namespace hk::schedules
