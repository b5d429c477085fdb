#pragma once
// The gather/scatter tensor product by its definition, in double.

#include <vector>

#include "hk/tensor_product.h"

namespace hk::reference {

struct TensorProductResult {
    std::vector<double> values;      // [output rows, M]
    std::vector<double> magnitudes;  // of each value: the sum of its terms' magnitudes
    std::vector<int64_t> terms;      // of each row: products in a sum
};

// Of host tensors with any strides, which fit each other; padded or ragged maps as
// hk/tensor_product.h says. With options.accumulate what the output holds is a term.
TensorProductResult tensor_product(const Tensor &input, const Tensor &weight, const Tensor &imap,
                                   const Tensor &omap, const Tensor &output,
                                   const TensorProductOptions &options = {});

}  // namespace hk::reference
