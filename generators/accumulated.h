#pragma once
// What results that may be added to share.

#include <functional>

#include "Halide.h"

namespace hk::generators {

// An element from its sum in f32 or f64: sum, or previous + sum, rounded once. `previous` is the
// element itself as it was, which is read where `accumulate` is (generators/optional.h): no
// schedule may compute an element twice. So tails are guarded, and never shifted inwards.
Halide::Expr accumulated(const Halide::Type &type, const Halide::Expr &sum,
                         const Halide::Expr &previous, const Halide::Expr &accumulate);

// f(0) to f(count - 1) of a function of constants, pairs first, then pairs of pairs.
template<typename Combine, typename Function>
Halide::Expr tree(int count, Combine combine, Function f, int first = 0) {
    if (count == 1) return f(first);
    const int half = count / 2;
    return combine(tree(half, combine, f, first), tree(count - half, combine, f, first + half));
}

// f(0) + … + f(count - 1).
template<typename Function>
Halide::Expr tree_sum(int count, Function f) {
    return tree(count, std::plus<Halide::Expr>(), f);
}

// The rows of all images, one after the other, in parts of equal length; the last ones may end
// early, or hold none.
struct RowsInParts {
    RowsInParts(const Halide::Expr &batch, const Halide::Expr &height, int parts);

    Halide::Expr batch, height;
    Halide::Expr length;  // of a part

    // Whether a part has row i, and where that row is.
    Halide::Expr holds(const Halide::Expr &part, const Halide::Expr &i) const;
    Halide::Expr y(const Halide::Expr &part, const Halide::Expr &i) const;
    Halide::Expr n(const Halide::Expr &part, const Halide::Expr &i) const;
};

}  // namespace hk::generators
