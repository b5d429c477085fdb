#pragma once
// Division of an index by a number that is known when the kernel is called, for whose reciprocal
// the host has found a multiplier and a shift (runtime/src/convolution/line.h): no division
// instruction.

#include "Halide.h"

namespace hk::generators {

struct Divisor {
    Halide::Expr value, multiplier, shift;  // int32
};

// Of indices from 0 to 2^31 - 1.
inline Halide::Expr quotient(const Halide::Expr &index, const Divisor &divisor) {
    using Halide::cast;
    const Halide::Expr multiplier =
        cast<uint64_t>(Halide::reinterpret<uint32_t>(divisor.multiplier));
    return cast<int32_t>((cast<uint64_t>(cast<uint32_t>(index)) * multiplier) >>
                         cast<uint64_t>(divisor.shift));
}

// By any number above zero, by a division instruction: of what is not below zero, without the steps
// that Halide takes for what may be.
inline Halide::Expr whole_quotient(const Halide::Expr &value, const Halide::Expr &by) {
    using Halide::cast;
    return cast<int32_t>(cast<uint32_t>(value) / cast<uint32_t>(by));
}

}  // namespace hk::generators
