#pragma once
// Sums of any length.
//
// At most kLongestSum terms are added one after the other: a block. Blocks are added up by a
// running sum that carries what its additions lose to the next one. So to first order, with u =
// 2^-24 (f64: 2^-53), whatever the length,
//   |result - sum| <= (kLongestSum + 2) * u * sum of |terms|,
// and one more u for each level of a tree that adds up lanes or parts. (Higham, Accuracy and
// Stability of Numerical Algorithms, 4.2 for blocks, 4.3 for Kahan's running sum.)
//
// Rejected: running sums in f64, which not all devices of OpenCL have; blocks added up without what
// is lost, whose error grows with their number: 5e-3 of ten million equal terms.

#include "Halide.h"

namespace hk::generators {

inline constexpr int kLongestSum = 256;

// `count` terms in blocks as long as each other: b has the terms b * length to b * length + length
// - 1, of which the last ones may be past the end, fewer than blocks are.
struct SumBlocks {
    explicit SumBlocks(const Halide::Expr &count, const Halide::Expr &longest = kLongestSum)
        : number(divided(count, longest)), length(divided(count, Halide::max(number, 1))) {}

    Halide::Expr number, length;

private:
    static Halide::Expr divided(const Halide::Expr &count, const Halide::Expr &by) {
        return Halide::Internal::simplify((count + by - 1) / by);
    }
};

// The values of a running sum: itself, and what it is too large by.
inline Halide::Tuple empty_sum(const Halide::Type &type) {
    return {Halide::Internal::make_zero(type), Halide::Internal::make_zero(type)};
}

// With one more term, as the arithmetic is written: what strict_float keeps from being simplified.
// Of an infinity nothing is lost, where the difference were NaN.
inline Halide::Tuple add_to_sum(const Halide::Tuple &so_far, const Halide::Expr &term) {
    using namespace Halide;
    const Expr next = strict_float(term - so_far[1]);
    const Expr sum = strict_float(so_far[0] + next);
    const Expr excess = strict_float((sum - so_far[0]) - next);
    return {sum, select(is_finite(sum), excess, Internal::make_zero(term.type()))};
}

}  // namespace hk::generators
