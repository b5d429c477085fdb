#pragma once
// Schedule of the steps of generators/transpose.h.

#include <algorithm>

#include "generators/transpose.h"

namespace hk::schedules {

struct TransposedVectors {
    int width;   // elements of a row of the first step
    int widest;  // of a vector; longer rows are several
};

// In each turn of a loop, which takes one tile: `rest` are the steps' further arguments where their
// bounds alone do not say so.
inline void transpose_at(const Halide::LoopLevel &loop, std::vector<Halide::Func> &steps,
                         TransposedVectors vectors, const std::vector<Halide::Var> &rest = {}) {
    using generators::element, generators::row;
    for (Halide::Func &step : steps) {
        step.compute_at(loop)
            .bound_extent(element, vectors.width)
            .vectorize(element, std::min(vectors.width, vectors.widest))
            .unroll(element)
            .unroll(row);
        for (const Halide::Var &var : rest) step.bound_extent(var, 1);
        vectors.width *= 2;
    }
}

}  // namespace hk::schedules
