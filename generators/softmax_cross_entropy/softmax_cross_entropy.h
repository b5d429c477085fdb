#pragma once
// Softmax, cross-entropy and its gradient, of rows n of logits with classes c. The equations are in
// hk/softmax_cross_entropy.h.

#include "generators/letters.h"

namespace hk::generators {

struct SoftmaxCrossEntropyOperands {
    Halide::Func logits, labels;
    Halide::Expr rows, classes, scale;
    Halide::Type type;  // of logits and gradient
};

// Lane l has the classes l, l + lanes, …, which lane_best is over r of. Their sum is long
// (generators/long_sum.h): block_sum(lane, b, n) is over in_block, lane_sum, a running sum, over
// blocks, and lane_total is its value. Groups of up to 16 lanes are folded to group_best and
// group_sum, and those to best and sum; a NaN is an infinity to best. label is a row's, moved to
// the nearest class; at_label its logit less best. factor is what exponentials are multiplied by to
// be a gradient.
struct SoftmaxCrossEntropy {
    Halide::Var lane{"lane"}, group{"group"}, b{"b"};
    Halide::Func lane_best, group_best, best, block_sum, lane_sum, lane_total, group_sum, sum;
    Halide::Func label, at_label, factor, loss, gradient;
    Halide::RDom r, in_block, blocks;
};

// A gradient may be written over its logits: every element depends on all loads of its row, by way
// of best, sum and at_label, so that none of those can come after the first store of the row. The
// one load that is left is the element's own.
SoftmaxCrossEntropy softmax_cross_entropy(const SoftmaxCrossEntropyOperands &operands, int lanes);

}  // namespace hk::generators
