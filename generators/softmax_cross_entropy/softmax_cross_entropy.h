#pragma once
// Softmax, cross-entropy and its gradient, of rows n of logits with classes c. The equations are in
// hk/softmax_cross_entropy.h.

#include "generators/letters.h"

namespace hk::generators {

struct SoftmaxCrossEntropyOperands {
    Halide::Func logits, labels;
    Halide::Expr rows, classes, scale;
    Halide::Type type;  // of logits and gradient
    Halide::Target target;
};

// logit(c, n) is an element as it was loaded, power the exponential of what it is below best. Lane
// l has the classes l, l + lanes, …, which lane_best is over r of. Their sum is long
// (generators/long_sum.h): block_sum(lane, b, n) is over in_block, lane_sum, a running sum, over
// blocks, and lane_total is its value. Groups of lanes are folded to group_best and group_sum, and
// those to best and sum; a NaN is an infinity to best. label is a row's, moved to the nearest
// class; at_label its logit less best. factor is what exponentials are multiplied by to be a
// gradient; of_gradient the best, factor and label of a row, and the label's gradient.
struct SoftmaxCrossEntropy {
    Halide::Var lane{"lane"}, group{"group"}, b{"b"};
    Halide::Func logit, power;
    Halide::Func lane_best, group_best, best, block_sum, lane_sum, lane_total, group_sum, sum;
    Halide::Func label, at_label, factor, of_gradient, loss, gradient;
    Halide::RDom r, in_block, blocks;
    std::vector<Halide::Func> halves;  // of softmax_of_powers
};

// A gradient may be written over its logits: every element depends on all loads of its row, by way
// of best, sum and at_label, so that none of those can come after the first store of the row. The
// one load that is left is the element's own.
//
// Groups are of up to 16 lanes, as far apart as there are groups.
SoftmaxCrossEntropy softmax_cross_entropy(const SoftmaxCrossEntropyOperands &operands, int lanes);

// The same for a CPU, which can make each exponential once: power(c, n) is what both the sum and
// the gradient are made of, 0 past the last class. Instead of groups there are halves(lane, n): of
// the lanes, then of each half before.
SoftmaxCrossEntropy softmax_of_powers(const SoftmaxCrossEntropyOperands &operands, int lanes);

}  // namespace hk::generators
