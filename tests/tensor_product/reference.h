#pragma once
// The gather/scatter tensor product and its gradients by their definitions, in double.

#include <vector>

#include "hk/tensor_product.h"
#include "tests/reference/rows.h"

namespace hk::reference {

struct TensorProductResult {
    std::vector<double> values;      // of the result, packed
    std::vector<double> magnitudes;  // of each value: the sum of its terms' magnitudes
    std::vector<int64_t> terms;      // of each value
};

// Maps as hk/tensor_product.h has them; starts: of ragged ones, else undefined.
struct TensorProductPairs {
    Tensor imap, omap, starts;
};

// Of host tensors with any strides, which fit each other. With options.accumulate what the result
// holds is a term. Rows are the output's, the input's, or those of the weight as [N * C, M].
TensorProductResult tensor_product(const Tensor &input, const Tensor &weight,
                                   const TensorProductPairs &pairs, const Tensor &output,
                                   const TensorProductOptions &options = {}, const Rows &rows = {});
TensorProductResult tensor_product_backward_data(
    const Tensor &output_gradient, const Tensor &weight, const TensorProductPairs &pairs,
    const Tensor &input_gradient, const TensorProductOptions &options = {}, const Rows &rows = {});
TensorProductResult tensor_product_backward_weight(
    const Tensor &input, const Tensor &output_gradient, const TensorProductPairs &pairs,
    const Tensor &weight_gradient, const TensorProductOptions &options = {}, const Rows &rows = {});

}  // namespace hk::reference
