#pragma once
// Is a tensor product right: sums in double, of rows that are looked at.

#include "cloud.h"
#include "conv2d_data.h"
#include "family.h"

namespace hk::bench {

// Of data that are multiples of 1/16, whose sums are exact in every type of sums: a result must be
// the sum, rounded once to its type.
class TensorProductReference {
public:
    // Products in all are at most about 100 million: of more, rows are left out evenly.
    TensorProductReference(const KernelMap &map, const Data &input, const Data &weight);

    Check check(const std::byte *output) const;  // packed, of the input's type

private:
    DataType type_;
    int64_t channels_;
    std::vector<int64_t> rows_;
    std::vector<double> sums_;  // of each of these rows
};

}  // namespace hk::bench
