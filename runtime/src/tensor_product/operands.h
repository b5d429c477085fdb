#pragma once
// The operands of a tensor product as kernels see them.

#include <vector>

#include "hk/tensor_product.h"
#include "kernel_buffer.h"
#include "kernel_call.h"

namespace hk::detail {

struct TensorProductTensors {
    const Tensor &input, &weight, &imap, &omap, &output;
};

// Throws InvalidArgument for anything that is wrong with the arguments but the maps' content, and
// for what only a kernel can't take.
TensorProductProblem check_tensor_product(const TensorProductTensors &tensors,
                                          const TensorProductOptions &options);

// "tensor_product f32, 27 offsets, 789000 pairs, 64 to 64 channels, 125000 to 125000 rows"
std::string to_string(const TensorProductProblem &problem);

// Of one group. Dimensions, innermost first: input [c, row], weight [m, c, n], output [m, row].
struct TensorProductOperands {
    BufferView input, weight, output;
};

// One call each. Throws InvalidArgument where a kernel can't take them.
std::vector<TensorProductOperands> tensor_product_operands(const TensorProductProblem &problem,
                                                           const TensorProductTensors &tensors);

// The field that a row's condition names: adjacent, groups, offsets as in hk/tensor_product.h; c
// and m, channels of a group; and vectors, the width of the output's blocks, in vectors of 64
// bytes, that suits m: 1, 2 or 4. Throws std::out_of_range.
int64_t tensor_product_field(const TensorProductProblem &problem, std::string_view field);

}  // namespace hk::detail
