#pragma once
// Sorted lists of items (generators/topk/items.h), each merged with its neighbour.
//
// Item p of the merged list of a and b is found on its own: of its p predecessors some number are
// of a, which a binary search tells. An item at place i of a is one of them where it comes before
// that at place p - 1 - i of b.

#include "generators/topk/items.h"

namespace hk::generators {

struct TopKMergeOperands {
    std::vector<Halide::Func> items;  // (place, list, x, y): keys, and indices where there are any
    Halide::Expr length, lists;       // places of a list, lists
    Halide::Expr halvings;            // so that 2^halvings > length
};

// ahead(place, list, x, y): how many items of the left list come before, at least and at most. The
// last list of an odd number of lists is merged with none; what it lacks is padding.
struct TopKMerge {
    Halide::Var place{"place"}, list{"list"}, x{"x"}, y{"y"};
    Halide::Func ahead, merged;
    Halide::RDom r;
};

TopKMerge topk_merge(const TopKMergeOperands &operands);

}  // namespace hk::generators
