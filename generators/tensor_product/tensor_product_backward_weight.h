#pragma once
// The gradient of the tensor product's weight: a matrix product of gathered rows for each offset.
//
//   weight_gradient(m, c, n) = sum over the pairs p of offset n of
//       input(c, source(p)) * output_gradient(m, target(p))
//
// Pairs are sorted by blocks of output rows, so that the rows that a block's pairs gather stay in
// cache, and within a block by offsets. A chunk is pairs of one block and one offset; a slice is
// whole blocks, and has sums of its own for all offsets. Slices are added up in their order:
// results depend on the maps alone. Index letters: those of
// generators/tensor_product/tensor_product.h, and s slice, q its chunk, i pair of a chunk, ci and
// co a block of the input's channels.

#include "generators/tensor_product/tensor_product.h"

namespace hk::generators {

inline const Halide::Var ci{"ci"}, co{"co"};

struct WeightGradientSizes {
    int channels, depth;  // of the output and of the input that a sum in registers has
    int pairs;            // of a chunk, at most
    // Channels of the output are a multiple of `channels`, so none past the last is asked for.
    bool exact = false;
};

struct TensorProductBackwardWeightOperands {
    Halide::Func input, output_gradient;  // (c, g, row), (m, g, row)
    Halide::Func source, target;          // (pair)
    Halide::Func begin, offset;           // (q): a chunk's first pair, its offset
    Halide::Func first;                   // (s): a slice's first chunk
    Halide::Func previous;                // (m, g, c, n)
    Halide::Expr input_rows, output_rows, input_channels, output_channels;  // channels of a group
    Halide::Expr groups, pairs, chunks, slices, offsets;
    Halide::Expr most;        // chunks of a slice
    Halide::Expr accumulate;  // whether previous(m, c, n) is added
    Halide::Type type;        // of the tensors
};

// Sums are f32, or f64 of f64. Of group 0: groups are calls of their own.
struct TensorProductBackwardWeight {
    Halide::Func input, output_gradient;  // (c, i, q, s), (m, i, q, s): gathered rows
    Halide::Func product;                 // (mi, ci, mo, co, q, s) over pair
    Halide::Func part;                    // (mi, ci, mo, co, n, s) over chunk
    Halide::Func sum;                     // (mi, ci, mo, co, n) over slice
    Halide::Func output;                  // (m, g, c, n)
    Halide::RDom pair, chunk, slice;
};

TensorProductBackwardWeight tensor_product_backward_weight(
    const TensorProductBackwardWeightOperands &operands, const WeightGradientSizes &sizes);

}  // namespace hk::generators
