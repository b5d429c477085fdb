#pragma once
// The gradient of the tensor product's weight for GPUs: pairs offset by offset, an offset's in
// slices, each with sums of its own for that offset alone.

#include "generators/tensor_product/tensor_product_backward_weight.h"

namespace hk::generators {

// Index letters as in generators/tensor_product/tensor_product_backward_weight.h; i is a pair of a
// slice. Pairs of a slice are summed up in steps of `pairs`, and gathered channels are zero past
// the slice's end, so that a staged step has a constant size. Slices of an offset are added up in
// their order.
struct TensorProductBackwardWeightOffsets {
    Halide::Func input, output_gradient;  // (c, i, g, s), (m, i, g, s)
    Halide::Func sum;                     // (m, c, g, s) over pair.x, of a step, and pair.y, steps
    Halide::Func part;                    // the same, stored
    Halide::Func total;                   // (m, g, c, n) over slice, or of a share
    Halide::Func output;                  // (m, g, c, n)
    Halide::RDom pair, slice;
    Halide::Var share{"share"};
    Halide::Expr input_channels, output_channels, groups, slices;
    bool vectors = false;  // rows are copied in vectors of kWordVector
};

// `operands`: chunks are slices here, begin(s) the first pair of one, first(n) an offset's first
// slice, most the pairs of the longest slice; offset is not used. `vectors`: of f32, in whole
// vectors of kWordVector channels.
TensorProductBackwardWeightOffsets tensor_product_backward_weight_offsets(
    const TensorProductBackwardWeightOperands &operands, int pairs, bool vectors);
constexpr int kWordVector = 4;

// The same of operands in their own type, in whole vectors of kPairVector channels, for units that
// multiply matrices, in steps of kProductPairs. Past the last vector of channels, sums are those of
// that vector again. total(m, g, c, n, share) adds up every kSliceShares-th slice from its share
// on, which a fixed tree adds up: a chain of additions that ends early, and loads that wait
// together.
constexpr int kProductPairs = 32, kPairVector = 8, kSliceShares = 8;
TensorProductBackwardWeightOffsets tensor_product_backward_weight_products(
    const TensorProductBackwardWeightOperands &operands);

}  // namespace hk::generators
