#pragma once
// What algorithms read that take channels in whole vectors, each copied at once.

#include "Halide.h"

namespace hk::generators {

// Whether a place is from 0 to size - 1, by one comparison: what is below zero is above all sizes.
inline Halide::Expr within(const Halide::Expr &place, const Halide::Expr &size) {
    return Halide::cast<uint32_t>(place) < Halide::cast<uint32_t>(size);
}

// A channel of a tile, of `count`, a multiple of `vector`: past the last vector that one again.
inline Halide::Expr in_last_vector(const Halide::Expr &channel, const Halide::Expr &count,
                                   int vector) {
    return Halide::min(channel / vector * vector, count - vector) + channel % vector;
}

}  // namespace hk::generators
