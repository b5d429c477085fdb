#pragma once
// Gradients of hk::tensor_product from the gradient of its output:
//
//   input_gradient[imap[n, p], c]  = sum over n, p, m of
//       weight[n, c, m] * output_gradient[omap[n, p], m]
//   weight_gradient[n, c, m]       = sum over p of
//       input[imap[n, p], c] * output_gradient[omap[n, p], m]
//
// for every pair p of every offset n, plus what the gradient holds where options.accumulate is set.
// Shapes, types, groups and views are those of hk/tensor_product.h, and so is what a call throws;
// the gradient that is computed overlaps no other tensor of the call.
//
// The input's gradient is itself a tensor product, with the maps and the weight turned round: it
// runs its kernels, and its error has the same bound, which does not grow with the pairs that reach
// a row of the input. The weight's is a product of gathered rows for each offset; the order of its
// sums depends on the maps alone: the same call gives the same bits on any number of threads. Of
// any number of pairs it errs in f32 by at most 2^-11 of the sum of its terms' magnitudes: where
// memory is not for as many sums as that takes, a kernel runs several times, after each of which
// f16 and bf16 round. bf16 sums may err by 2^-8. Its scratch memory is at most 64 MB on the CPU, 16
// MB on a GPU, or twice the gradient in the type of sums where that is more. Where there are no
// pairs, the gradient is there when the call returns.
//
// On CUDA, f16 and bf16 run on tensor cores where channels are multiples of 8 and
// TensorProductProblem's aligned holds, which of the weight's gradient is of either channels.

#include "hk/tensor_product.h"

namespace hk {

void tensor_product_backward_data(const Tensor &output_gradient, const Tensor &weight,
                                  const TensorProductMaps &maps, const Tensor &input_gradient,
                                  const TensorProductOptions &options = {},
                                  const Stream &stream = {});
void tensor_product_backward_weight(const Tensor &input, const Tensor &output_gradient,
                                    const TensorProductMaps &maps, const Tensor &weight_gradient,
                                    const TensorProductOptions &options = {},
                                    const Stream &stream = {});

// Runs one given row: of tensor_product_kernels(), or of tensor_product_backward_weight_kernels().
// Throws InvalidArgument where the row does not take the problem. For tests and measurements.
void tensor_product_backward_data_with(const KernelInfo &kernel, const Tensor &output_gradient,
                                       const Tensor &weight, const TensorProductMaps &maps,
                                       const Tensor &input_gradient,
                                       const TensorProductOptions &options = {},
                                       const Stream &stream = {});
void tensor_product_backward_weight_with(const KernelInfo &kernel, const Tensor &input,
                                         const Tensor &output_gradient,
                                         const TensorProductMaps &maps,
                                         const Tensor &weight_gradient,
                                         const TensorProductOptions &options = {},
                                         const Stream &stream = {});

// All rows, in the order of the table.
std::span<const KernelInfo> tensor_product_backward_weight_kernels();

// `problem`: the forward product.
Selection select_tensor_product_backward_data(const TensorProductProblem &problem,
                                              DeviceType device, const DeviceLimits &limits,
                                              bool explain = false);
Selection select_tensor_product_backward_weight(const TensorProductProblem &problem,
                                                DeviceType device, const DeviceLimits &limits,
                                                bool explain = false);

}  // namespace hk
