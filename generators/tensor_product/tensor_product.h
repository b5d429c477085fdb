#pragma once
// The gather/scatter tensor product over tiles of pairs. Index letters: c channel of the input, m
// of the output, n offset of the kernel, o row of the output, i pair of a tile, t tile of a group,
// g group of a block, b block of rows.
//
// A tile is `pairs` pairs of one offset whose output rows lie in one block; `group` tiles are
// gathered at once. The groups of a block stand next to each other, offsets upwards, so that a
// block's sums stay in cache from the first to the last, and no two blocks add to one row: results
// don't depend on which thread does which block. C++ (runtime/src/tensor_product/tiles.h) sorts the
// maps into tiles. What is left of an offset's last tile and of a block's last group is filled with
// pairs from row 0 to the row after the block's, which nobody reads.

#include "generators/letters.h"

namespace hk::generators {

// c, n and g are conv2d's.
inline const Halide::Var mi{"mi"}, mo{"mo"};

struct TensorProductSizes {
    int channels, rows;  // of the output, of a block
    int pairs, group;    // of a tile; tiles of a group
    int depth;           // channels of the input are padded with zeros to a multiple of it
};

struct TensorProductOperands {
    Halide::Func input, weight;  // (c, row), (m, c, n)
    Halide::Func source, target, offset,
        first;              // (i, tile), (i, tile), (tile), (b): its first group
    Halide::Func previous;  // (m, o)
    Halide::Expr input_rows, input_channels, output_channels, offsets, groups;
    Halide::Expr most;        // groups of a block
    Halide::Expr accumulate;  // whether previous(m, o) is added
    Halide::Type type;        // of the tensors
};

struct TensorProduct {
    Halide::Func packed;    // (mi, c, mo, n): weight, in the type of sums
    Halide::Func gathered;  // (c, i, t, g, b): input rows of a tile, in the type of sums
    Halide::Func product;   // (mi, i, t, g, b, mo) over rc
    Halide::Func sum;       // (mi, o, b, mo) over r: a pair, its tile, its group
    Halide::Func output;    // (m, o)
    Halide::RDom rc, r;
};

// Sums are f32, or f64 of f64. A product's sum goes over c upwards, an output's over its tiles.
TensorProduct tensor_product(const TensorProductOperands &operands,
                             const TensorProductSizes &sizes);

}  // namespace hk::generators
