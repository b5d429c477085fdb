#pragma once
// The first step of a top-k on a GPU: items of a row (generators/topk/items.h) in tiles, each of
// which is sorted. What is kept of the tiles is one list after the other, for the next step.
//
// A row's elements are looked at as `stride` columns of `chunk` elements: element e lies in column
// e % stride. Item i is the best of column i. The k best elements lie in the k columns with the
// best items, because items are totally ordered: a column that is not among those is beaten by k
// others. With stride = columns, chunk = 1, an item is an element.
//
// With `gather` items are the elements of the columns that a list names, by any element of each,
// one column after another: element j of the list's entry l is item j * listed + l. With chunk = 1
// these are the list's own elements. Entries past the row's end are padding.

#include "generators/topk/items.h"
#include "generators/topk/keys.h"

namespace hk::generators {

struct TopKTilesOperands {
    Halide::Func input;  // (column, x, y), bits
    Halide::Func list;   // (place, x, y), indices of elements
    Halide::Type type;   // of the input
    Halide::Expr columns, stride, chunk, gather, listed;
    TopKKeys keys;
    bool indices;  // whether items have them
};

// best(slot, lane, tile, x, y): item slot * lanes + lane of a tile of 8 * lanes items.
// sorted(place) is that tile in the order of a bitonic network whose steps are taken three at a
// time, each its update: three steps join eight places, which one thread can do, in registers.
// Where fewer items are kept, the network ends with sorted lists of so many; of two lists the
// better half becomes one again, until there is one.
struct TopKTiles {
    static constexpr int slots = 8;
    static constexpr int padded(int place) { return place + place / 8; }  // see position()

    Halide::Var slot{"slot"}, lane{"lane"}, place{"place"}, tile{"tile"}, x{"x"}, y{"y"};
    Halide::Func first, best, sorted, items;
    Halide::RDom r;                    // of best: the elements of a column
    std::vector<Halide::RDom> rounds;  // of sorted's updates: the lanes

    // Places of sorted: a tile, and half of one for lists that two were pruned to.
    static constexpr int places(int tile, int keep) { return keep < tile ? tile + tile / 2 : tile; }

    // Where sorted has a place: one in nine is left out, so that the lanes of a warp, whose places
    // are 8, 16, 32 or 64 apart or neighbours, meet in no bank of shared memory, or in pairs.
    static Halide::Expr position(const Halide::Expr &place) { return place + place / 8; }
};

// `tile`: a power of two, at least 8. `keep`: how many of its items are asked for at most, a power
// of two from 8 to tile.
TopKTiles topk_tiles(const TopKTilesOperands &operands, int tile, int keep);

}  // namespace hk::generators
