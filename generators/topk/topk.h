#pragma once
// The k best elements of each row, by keys (generators/topk/keys.h). Index letters: i an element of
// the row, c a chunk of it, j an element of a chunk, place a place in the result, x and y the row.
//
// The k best elements lie in the k chunks with the best maxima: were one of them in another chunk,
// k chunks would have an element that beats it. So one dense pass over the row finds the maxima,
// and the rest looks at k chunks. Of chunks with equal maxima the first are taken, as of elements.
//
// Vectors can't append, and a comparison can't branch for one lane: what is at least the k-th best
// is marked in masks, and C++ (runtime/src/topk/stages.cpp) walks over their bits.

#include "generators/letters.h"
#include "generators/topk/keys.h"

namespace hk::generators {

struct TopKRow {
    Halide::Func input;             // bits(i, x, y)
    Halide::Expr columns, rows, k;  // rows: along x
    TopKKeys keys;
    Halide::Type type;     // of the bits
    bool values, indices;  // what is asked for
    int lanes;             // keys of a vector
};

// The k-th largest of some keys, bit by bit from the highest: how many are at least what is known
// of it with one bit more? Each bit has its Funcs, as a sum can't refer to the bit before it.
struct KthLargest {
    Halide::RDom r, r_lane;             // vectors of keys; lanes of one
    std::vector<Halide::Func> partial;  // (lane, x, y) over r
    std::vector<Halide::Func> total;    // (x, y) over r_lane
    std::vector<Halide::Func> known;    // (x, y); the last is the result
};

// bits(q, …) has bit l where key q * (bits of a mask) + l is at least the threshold.
struct Masks {
    Halide::RDom r;       // a key of a mask
    Halide::Func weight;  // (j): 1 << j, a shift that Halide 21 can't vectorize
    Halide::Func bits;
};

// Of the maxima of chunks.
struct TopKChunks {
    Halide::Expr size, count;           // elements of a chunk; chunks of a row
    Halide::Func lane_best, lane_rest;  // ranks (lane, c, x, y), (lane, x, y) over r_lane
    Halide::Func rank, best;            // (c, x, y): over r_full, r_rest; and as keys
    Halide::RDom r_lane, r_full, r_rest;
    Halide::Expr largest_float;  // TopKKeys'
    Masks masks;
};

// The best element of each of `count` columns: those of a row with the same remainder.
struct TopKColumns {
    Halide::Expr count;
    Halide::Func running;  // (column, x, y) over r: the key; with indices, its place in the column
    Halide::Func best;     // the same, when all is seen
    Halide::RDom r;
    Masks masks;
    Halide::Func turned;  // keys (column, x, y), to be stored by x first
};

struct TopK {
    TopKColumns columns;  // either of the two is defined, or the whole row is looked at
    TopKChunks chunks;
    KthLargest threshold;         // of the maxima or of candidates; empty in a sort
    Halide::Func least;           // (x, y): the threshold; 0 in a sort
    Halide::Func chosen;          // chunks or columns (place, x, y)
    Halide::Func candidates;      // keys (j, place, x, y) of the chosen
    Masks masks;                  // of candidates
    Halide::Func sorted, result;  // (place, x, y): key, index, or both
};

// chunk: a multiple of `lanes`, at most columns.
TopK topk_chunks(const TopKRow &row, const Halide::Expr &chunk);

// The same with columns: elements are in columns as one vector's are in its lanes, so that a short
// row's maxima need no steps across lanes; but a column's elements lie far apart.
TopK topk_columns(const TopKRow &row, const Halide::Expr &columns);

// The whole row is the only chunk. topk_sort: and all of it is wanted.
TopK topk_whole(const TopKRow &row);
TopK topk_sort(const TopKRow &row);

}  // namespace hk::generators
