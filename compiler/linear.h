#pragma once
// Indices as sums.

#include <cstdint>
#include <map>

#include "Halide.h"

namespace hk::compiler {

// constant + sum of factor * term, where no term is a sum or a multiple of another.
struct Linear {
    int64_t constant = 0;
    std::map<Halide::Expr, int64_t, Halide::Internal::IRDeepCompare> terms;

    explicit Linear(const Halide::Expr &index) { add(index, 1); }

    void add(const Halide::Expr &e, int64_t factor);
    Halide::Expr sum() const;
};

}  // namespace hk::compiler
