#pragma once
// The steps of a top-k on a GPU, a pure function of the problem. Each is one kernel over all rows:
//
//   tiles: items of a row's elements, sorted tile by tile (generators/topk/topk_tiles.h): of its
//   columns, or
//          with `gather` of those columns that the step before has listed.
//   merge: sorted lists, each with its neighbour (generators/topk/topk_merge.h).
//
// A row that gives more tiles than fill a GPU is looked at as columns first: the k best elements
// lie in the k columns with the best items. Lists that are short against a tile are sorted again,
// by their indices, which makes tile / k lists one; others are merged, which makes two one.

#include <vector>

#include "hk/topk.h"

namespace hk::detail {

// A tile of so many items has all its places written, however few of them are needed.
constexpr int64_t kTopKWholeTile = 8;

// The items that one kernel sorts at a time, with indices and without.
struct TopKTileSizes {
    int64_t indices, keys;
};

struct TopKStep {
    enum class Kind : uint8_t { tiles, gather, merge };
    Kind kind;
    bool indices;           // whether the items that it makes have them
    int64_t items;          // of a row, that come in: columns, elements or places of lists
    int64_t stride, chunk;  // of columns
    int64_t places, lists;  // of a row, that it makes

    bool operator==(const TopKStep &) const = default;
};

// The steps up to one list with at least k places, of which the first k are the result: with
// indices where the problem asks for them.
std::vector<TopKStep> topk_plan(const TopKProblem &problem, const TopKTileSizes &tile);

}  // namespace hk::detail
