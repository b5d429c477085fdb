#pragma once
// The gather/scatter tensor product by blocks of output rows. Index letters: c channel of the
// input, m of the output, both of a group g; o row of the output, i row of a block b, s slot.
//
// A slot is one offset of the kernel and, for each row of its block, the input row that the offset
// pairs with it, or -1. A block's sums go over its slots, so that each element of the output is
// written once, by one thread, and nothing is added from outside: results don't depend on who
// computes what. Rows of a block need not be neighbours: C++ (runtime/src/tensor_product/slots.h)
// puts those together that have the same offsets, so that few places of slots are empty.
//
// Of tiles, the pairs of a slot stand next to each other, `pairs` of them a tile, each with its row
// of the block. What is left of a slot's last tile has input row -1 and the row after the block's.

#include <functional>

#include "Halide.h"

namespace hk::generators {

struct TensorProductStationarySizes {
    int rows;       // of a block
    int depth;      // input channels of a slice
    int pairs = 0;  // of a tile; 0: slots
};

struct TensorProductStationaryOperands {
    Halide::Func input, weight;                       // (c, g, row), (m, g, c, n)
    Halide::Func source, offset;                      // (i, slot), (slot)
    Halide::Func target;                              // of tiles: (i, slot), of the block
    std::function<Halide::Expr(Halide::Expr)> first;  // (b): its first slot
    Halide::Func row;       // (i, b): of the output, past its end for none
    Halide::Func previous;  // (m, g, o)
    Halide::Expr input_rows, output_rows, input_channels, output_channels, offsets;
    Halide::Expr slots, blocks;
    Halide::Expr most;        // slots of a block
    Halide::Expr accumulate;  // whether previous is added
    Halide::Type type;        // of the tensors
};

struct TensorProductStationary {
    Halide::Var m{"m"}, c{"c"}, g{"g"}, i{"i"}, b{"b"}, s{"s"}, o{"o"};
    Halide::Func matrix;    // (m, c, g, s, b): a slot's weight
    Halide::Func gathered;  // (c, i, g, s, b): its input rows
    Halide::Func product;   // (m, i, g, s, b) over rc: channel of a slice, slice
    Halide::Func sum;       // (m, i, g, b) over r: slots, or a pair and its tile
    Halide::Func rounded;   // (m, i, g, b): what is written of it
    Halide::Func output;    // (m, g, o) over rows: i, b
    Halide::RDom rc, r, rows;
    bool transposed = false;  // of products: the weight's neighbours are c, else m
};

// Sums are f32, or f64 of f64: over slots upwards, of a slot over channels upwards.
TensorProductStationary tensor_product_stationary(const TensorProductStationaryOperands &operands,
                                                  const TensorProductStationarySizes &sizes);

// The same of operands in their own type, in whole vectors of 16 bytes. `transposed`: those of the
// weight are of c, else of m. For units that multiply matrices slices are of kProductChannels.
constexpr int kProductChannels = 32;
int row_vector(const Halide::Type &type);
TensorProductStationary tensor_product_products(const TensorProductStationaryOperands &operands,
                                                const TensorProductStationarySizes &sizes,
                                                bool transposed);

// An operand with zeros after the input's last channel.
Halide::Expr channel_or_zero(const Halide::Expr &channel, const Halide::Expr &channels,
                             const Halide::Type &sum,
                             const std::function<Halide::Expr(Halide::Expr)> &value);

}  // namespace hk::generators
