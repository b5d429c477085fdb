#pragma once
// Random rows, and an independent check of their top-k: a partial sort of the places by value and
// index. The elements hold neither NaN nor -0.

#include <cstddef>
#include <vector>

#include "family.h"
#include "hk/topk.h"

namespace hk::bench {

// A packed tensor [rows, columns] in host memory: floats in -1..1, integers over the whole range.
Tensor random_rows(DataType type, int64_t rows, int64_t columns);

class TopKReference {
public:
    TopKReference(const TopKProblem &problem, const Tensor &input);

    // Compares results of the problem, packed; indices of s64. Null: not asked for.
    Check check(const std::byte *values, const std::byte *indices) const;

private:
    int64_t k_;
    size_t element_bytes_;
    std::vector<std::byte> values_;
    std::vector<int64_t> indices_;
};

}  // namespace hk::bench
