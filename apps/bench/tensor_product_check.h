#pragma once
// Is a tensor product, or a gradient of it, right: sums in double, of rows that are looked at.

#include <array>

#include "cloud.h"
#include "conv2d_data.h"
#include "family.h"

namespace hk::bench {

// The tensors of a product, in the order of its arguments. One of them is the result: the output,
// or the gradient of another one.
enum class Role : uint8_t { input, weight, output };

// Input [input rows, C], weight [offsets, C, M], output [output rows, M], or their gradients. That
// of the result holds nothing yet.
struct TensorProductData {
    TensorProductData(const KernelMap &map, int64_t c, int64_t m, DataType type, Role result);

    const Data &operator[](Role role) const { return tensors[static_cast<size_t>(role)]; }
    std::string name_of(Role role) const;  // "output_gradient"

    const KernelMap &map;
    Role result;
    std::array<Data, 3> tensors;
};

// The data are multiples of 1/16, whose sums are exact in every type of sums: a result must be the
// sum, rounded once to its type.
class TensorProductReference {
public:
    // Products in all are at most about 100 million: of more, rows are left out evenly. A row of
    // the weight is a channel of the input.
    explicit TensorProductReference(const TensorProductData &data);

    Check check(const std::byte *result) const;  // packed, of the input's type

private:
    void sum_pair(const TensorProductData &data, int64_t n, int64_t source, int64_t target);

    DataType type_;
    std::string name_;
    int64_t channels_;             // of a row
    std::vector<int64_t> rows_;    // that are looked at
    std::vector<int64_t> places_;  // of each row among them; -1: it is not
    std::vector<double> sums_;
};

}  // namespace hk::bench
