#pragma once
// The gather/scatter tensor product, offset by offset. Index letters: c channel of the input, m of
// the output, both of a group g; o row of the output, i pair of a tile t.
//
// A tile is pairs of one offset, as in generators/tensor_product/tensor_product.h, here in any
// order: each pair adds its product to its output row, once an element, whoever else adds to it.
// What is left of an offset's last tile is filled with pairs to a row past the output's end, which
// are none.

#include "generators/tensor_product/tensor_product_stationary.h"

namespace hk::generators {

struct TensorProductAtomicSizes {
    int pairs;  // of a tile
    int depth;  // input channels of a slice
    // Of whole vectors of 16 bytes of input channels, which are next to each other: past the last
    // one nothing is added, else zeros are.
    bool vectors = false;
};

struct TensorProductAtomicOperands {
    Halide::Func input, weight;           // (c, g, row), (m, g, c, n)
    Halide::Func source, target, offset;  // (i, t), (i, t), (t)
    Halide::Func previous;                // (m, g, o)
    Halide::Expr input_rows, output_rows, input_channels, output_channels, offsets, tiles;
    Halide::Expr accumulate;  // whether previous is added
    Halide::Type type;        // of the tensors and of sums
};

struct TensorProductAtomic {
    Halide::Var m{"m"}, c{"c"}, g{"g"}, i{"i"}, t{"t"}, o{"o"};
    Halide::Func matrix;    // (m, c, g, t): a tile's weight
    Halide::Func gathered;  // (c, i, g, t): its input rows
    Halide::Func product;   // (m, i, g, t) over rc: channel of a slice, slice
    Halide::Func output;    // (m, g, o) over pairs: i, t
    Halide::RDom rc, pairs;
    bool vectors = false;  // of the input's channels
};

TensorProductAtomic tensor_product_atomic(const TensorProductAtomicOperands &operands,
                                          const TensorProductAtomicSizes &sizes);

}  // namespace hk::generators
