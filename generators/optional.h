#pragma once
// Operands that a call may leave out, and elements that are not there.

#include "Halide.h"

namespace hk::generators {

// `value` where `present`, else `otherwise`; only the one that is taken is evaluated, where
// select() evaluates both. So no bandwidth is spent on an operand that is absent, and its buffer's
// size and host pointer are not checked. But what Halide finds twice in `value` it evaluates before
// the condition: a vector of 32 elements of 16 bits, say, that it takes apart again. So on a CPU
// what stands for an absent operand must be readable (runtime/src/convolution/operands.h).
inline Halide::Expr if_present(const Halide::Expr &present, const Halide::Expr &value,
                               const Halide::Expr &otherwise) {
    using Halide::Internal::Call;
    return Call::make(value.type(), Call::if_then_else, {present, value, otherwise},
                      Call::PureIntrinsic);
}

// An element where `condition`, which a vector of them is read under; elsewhere it may be anything.
inline Halide::Expr loaded_if(const Halide::Expr &condition, const Halide::Expr &element) {
    using Halide::Internal::Call;
    return Call::make(element.type(), Call::if_then_else, {condition, element},
                      Call::PureIntrinsic);
}

// A place that is from 0 to size - 1, as Halide is told: of an index that blocks are fused of, or
// is a remainder, it takes all values.
inline Halide::Expr promised_within(const Halide::Expr &place, const Halide::Expr &size) {
    return Halide::unsafe_promise_clamped(place, 0, size - 1);
}

}  // namespace hk::generators
