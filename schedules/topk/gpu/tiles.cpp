#include "schedules/gpu_elements.h"
#include "schedules/topk/topk_tiles.h"

using namespace Halide;
using namespace hk::generators;

namespace hk::schedules::gpu {

namespace {

// The items that a thread puts into the network first, and the elements where they begin.
void hold_best(TopKTiles &stages, const LoopLevel &at) {
    stages.best.compute_at(at)
        .store_in(MemoryType::Register)
        .unroll(stages.slot)
        .update()
        .reorder(stages.slot, stages.lane, stages.r)
        .unroll(stages.slot);
    stages.first.compute_at(at).store_in(MemoryType::Register).unroll(stages.slot);
}

}  // namespace

// A block sorts a tile in shared memory, in place; a thread has eight of its items at a time, in
// registers, for three steps of the bitonic network. A tile of 1024, with 128 threads, takes 20
// rounds, each a load and a store of eight items and a barrier, where step by step it would be 55.
// Where 256 items are kept, it is 13 rounds, and 6 of half of the items and less; where 64, 7 and
// 8; where 8, 1 and 7. Shared memory: 9/8 of a tile's items, of 4 to 12 bytes: 1024 of keys of 32
// bits with indices 9216 bytes; half as much again where fewer are kept. Registers: eight items and
// their addresses, 56, or 80 with keys of 64 bits. Loads from the row are of neighbouring elements
// by neighbouring threads, eight of a thread in flight. Places: with one in 33 left out instead of
// one in nine, lanes 32 or 64 places apart met four in a bank, and keys of 64 bits took 96
// registers. Rejected by arithmetic: a Func for each step (twice the memory, a load and a store an
// item and step); 16 items a thread, which four steps join (17 rounds, but 64 threads for a tile,
// and with keys of 64 bits twice the registers).
void topk_tiles(TopKTiles &stages, const Context &context) {
    const TopKTile tile = topk_tile(context);
    const int lanes = tile.items / TopKTiles::slots;
    int item = 0;
    for (const Type &type : stages.sorted.types()) item += type.bytes();
    Knobs::estimate("bytes of shared memory", tile.places() * item, 48 * 1024);
    Knobs::estimate("threads of a block", lanes, 1024);
    const Var block("block"), round("round"), thread("thread");
    Func items = stages.items;
    items.split(stages.place, round, thread, lanes, TailStrategy::GuardWithIf);
    fuse_elements(items, {stages.tile, stages.x, stages.y}, block);
    items.gpu_blocks(block).gpu_threads(thread).never_partition_all();
    stages.sorted.compute_at(items, stages.tile)
        .store_in(MemoryType::GPUShared)
        .bound(stages.place, 0, tile.places());
    // Places of one round are those of one lane each: no two lanes of it touch the same.
    for (size_t i = 0; i < stages.rounds.size(); i++)
        stages.sorted.update(static_cast<int>(i))
            .allow_race_conditions()
            .reorder(stages.rounds[i], stages.tile, stages.x, stages.y)
            .gpu_threads(stages.rounds[i])
            .never_partition_all();
    hold_best(stages, {stages.sorted, stages.rounds[0]});
}

// Tiles of eight items, each of them a thread's, in its registers: nothing is staged. All eight
// places are written, whatever is needed of them: a number that is not known to the compiler would
// be an index of registers, which have none.
void topk_tiles_unstaged(TopKTiles &stages, const Context &context) {
    topk_tile(context);
    const Var block("block"), thread("thread");
    Func items = stages.items;
    items.bound(stages.place, 0, TopKTiles::slots).unroll(stages.place);
    fuse_elements(items, {stages.tile, stages.x, stages.y}, block);
    items.split(block, block, thread, 64, TailStrategy::GuardWithIf)
        .gpu_blocks(block)
        .gpu_threads(thread)
        .never_partition_all();
    stages.sorted.compute_at(items, stages.tile)
        .store_in(MemoryType::Register)
        .bound(stages.place, 0, TopKTiles::slots);
    hold_best(stages, {items, stages.tile});
}

}  // namespace hk::schedules::gpu
