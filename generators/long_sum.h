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

#include <array>
#include <type_traits>
#include <vector>

#include "Halide.h"

namespace hk::generators {

inline constexpr int kLongestSum = 256;

// `count` terms in blocks as long as each other: b has the terms b * length to b * length + length
// - 1, of which the last ones may be past the end, fewer than blocks are. `longest` is at least 1.
struct SumBlocks {
    explicit SumBlocks(const Halide::Expr &count, const Halide::Expr &longest = kLongestSum)
        : number(divided(count, longest)), length(divided(count, Halide::max(number, 1))) {}

    Halide::Expr number, length;

private:
    static Halide::Expr divided(const Halide::Expr &count, const Halide::Expr &by) {
        if (Halide::Internal::is_const_one(count)) return count;
        return Halide::Internal::simplify((count + by - 1) / by);
    }
};

// The values of a running sum: itself, and what it is too large by.
inline Halide::Tuple empty_sum(const Halide::Type &type) {
    return {Halide::Internal::make_zero(type), Halide::Internal::make_zero(type)};
}

// With one more term, as the arithmetic is written: what strict_float keeps from being simplified.
// Of an infinity nothing is lost, where the difference were NaN, as that from itself is; `finite`:
// no sum is one.
inline Halide::Tuple add_to_sum(const Halide::Tuple &so_far, const Halide::Expr &term,
                                bool finite = false) {
    using namespace Halide;
    const Expr next = strict_float(term - so_far[1]);
    const Expr sum = strict_float(so_far[0] + next);
    const Expr excess = strict_float((sum - so_far[0]) - next);
    if (finite) return {sum, excess};
    const Expr zero = Internal::make_zero(term.type());
    return {sum, select(strict_float(sum - sum == zero), excess, zero)};
}

// The sum of a box of terms, in blocks that are boxes too: block_sum is of the block `blocks`, over
// in_block, and running adds them up. The first dimension's blocks are as long as can be, those of
// the next have what is left.
struct BlockedSum {
    Halide::RDom in_block, blocks;
    Halide::Func block_sum, running;
};

// `term` of a place in the box, zero where not `counts`; the result is
// running(arguments)[0] = start + sum of them. Where a place has a pair of terms, `term` is asked
// for each with its number, and in_block.x is that.
template<typename Term, typename Counts>
BlockedSum blocked_sum(const std::vector<Halide::Var> &arguments, const Halide::Expr &start,
                       const std::array<Halide::Expr, 3> &box, const Term &term,
                       const Counts &counts) {
    using namespace Halide;
    constexpr bool pairs = std::is_invocable_v<Term, std::array<Expr, 3>, Expr>;
    constexpr int longest = pairs ? kLongestSum / 2 : kLongestSum, first = pairs ? 1 : 0;
    const SumBlocks a(box[0], longest), b(box[1], longest / max(a.length, 1)),
        c(box[2], longest / max(a.length * b.length, 1));
    const Var i("block_i"), j("block_j"), l("block_l");
    BlockedSum stages;
    if (pairs)
        stages.in_block = RDom(0, 2, 0, a.length, 0, b.length, 0, c.length, "in_block");
    else
        stages.in_block = RDom(0, a.length, 0, b.length, 0, c.length, "in_block");
    RDom &d = stages.in_block;
    const std::array<Expr, 3> place = {i * a.length + d[first], j * b.length + d[first + 1],
                                       l * c.length + d[first + 2]};
    std::array<Expr, 3> inside;
    for (size_t axis = 0; axis < 3; axis++) {
        d.where(place[axis] < box[axis]);
        inside[axis] = unsafe_promise_clamped(place[axis], 0, box[axis] - 1);
    }
    d.where(counts(inside));
    const std::vector<Expr> all(arguments.begin(), arguments.end());
    stages.block_sum = Func("block_sum");
    std::vector<Var> names = arguments;
    names.insert(names.end(), {i, j, l});
    stages.block_sum(names) = 0.f;
    if constexpr (pairs)
        stages.block_sum(names) += term(inside, d.x);
    else
        stages.block_sum(names) += term(inside);
    stages.blocks = RDom(0, a.number, 0, b.number, 0, c.number, "blocks");
    std::vector<Expr> block = all;
    block.insert(block.end(), {stages.blocks.x, stages.blocks.y, stages.blocks.z});
    stages.running = Func("running");
    stages.running(arguments) = Tuple(start, 0.f);
    stages.running(arguments) = add_to_sum(stages.running(all), stages.block_sum(block));
    return stages;
}

}  // namespace hk::generators
