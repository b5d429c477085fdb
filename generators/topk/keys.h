#pragma once
// Elements as keys: unsigned integers of the same width that compare as the elements do, the best
// one largest. hk/topk.h states the order.

#include "Halide.h"

namespace hk::generators {

// What a kernel is told of the type of its elements, which it sees as bits, and of the order: one
// kernel serves all types of a width. `flip`, the bits that tell the order of signed integers from
// that of keys: for the largest the sign bit where the type is signed or a float, none where it is
// unsigned; for the smallest all the others. `infinity`, `nan`: the bits of those values.
struct TopKKeys {
    Halide::Expr floats;               // whether elements are floats
    Halide::Expr flip, infinity, nan;  // of the width
    Halide::Expr largest_float;        // whether it is the largest floats that are wanted

    Halide::Expr key(const Halide::Expr &bits) const;
    Halide::Expr bits(const Halide::Expr &key) const;

    // The same order in signed integers: of the largest floats it takes a step less.
    Halide::Expr rank(const Halide::Expr &bits) const;
    static Halide::Expr key_of_rank(const Halide::Expr &rank);
};

// The parameters of a generator that hold them, converted to the width of `type`.
TopKKeys topk_keys(const Halide::Type &type, const Halide::Expr &floats, const Halide::Expr &flip,
                   const Halide::Expr &infinity, const Halide::Expr &nan);

}  // namespace hk::generators
