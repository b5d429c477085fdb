#pragma once
// The operands of a tensor product and of its gradients as kernels see them.

#include "fields.h"
#include "hk/tensor_product.h"
#include "kernel_buffer.h"
#include "kernel_call.h"

namespace hk::detail {

// The tensors of a product, [input rows, C], [N, C / groups, M], [output rows, M], with the names
// that messages give them: of a gradient one of them is the result.
struct TensorProductTensors {
    const char *operation;
    Operand input, weight, output;
    Operand TensorProductTensors::*result;
};

// Throws InvalidArgument for anything that is wrong with the arguments, and for what only a kernel
// can't take.
TensorProductProblem check_tensor_product(const TensorProductTensors &tensors,
                                          const TensorProductMaps &maps,
                                          const TensorProductOptions &options);

// Throws InvalidArgument where the weight, in the type of sums and filled up to whole blocks of
// channels, has more bytes than a kernel counts.
void check_filled_weight(const TensorProductTensors &tensors, const TensorProductProblem &problem,
                         int64_t input_block, int64_t output_block);

// The rows that maps point into: of a defined tensor of two dimensions, else throws
// InvalidArgument.
int64_t rows_of(const char *operation, const Operand &operand);

// The product that computes the gradient of the input: from output to input.
TensorProductProblem turned_round(const TensorProductProblem &problem);

// "f32, 27 offsets, 789000 pairs, 64 to 64 channels, 125000 to 125000 rows"
std::string to_string(const TensorProductProblem &problem);

// Dimensions, innermost first: input [c, g, row], weight [m, g, c, n], output [m, g, row].
struct TensorProductOperands {
    BufferView input, weight, output;

    // Input and output have changed places, and c and m.
    TensorProductOperands turned_round() const;

    // Of one group, whose dimension stays.
    TensorProductOperands of_group(int64_t g) const;

    // Of some channels of the input.
    TensorProductOperands of_channels(int64_t first, int64_t count) const;
};

// What a call of a kernel adds up one after the other, at most: channels of a product, pairs or
// chunks of a weight's gradient. With what comes on top, slices and calls, f32 has less than 2^13
// additions, an error of at most 2^-11 of the sum of the terms' magnitudes. Sums of bf16 may err by
// as much as it rounds; types of 16 bits round once more in each further call.
int64_t most_additions(DataType type);

// Throws InvalidArgument where a kernel can't take them.
TensorProductOperands tensor_product_operands(const TensorProductProblem &problem,
                                              const TensorProductTensors &tensors);

// The rows of the family that computes a product on such a device.
std::span<const KernelInfo> tensor_product_kernels_for(const TensorProductProblem &problem,
                                                       DeviceType device);

// With the fields of tensor_product/fields.def.
Fields tensor_product_fields(const TensorProductProblem &problem);

}  // namespace hk::detail
