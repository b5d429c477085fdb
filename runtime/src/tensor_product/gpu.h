#pragma once
// A tensor product on a GPU: one kernel for all groups, offsets and pairs.

#include "tensor_product/gpu_maps.h"
#include "tensor_product/operands.h"

namespace hk::detail {

// `problem` and `tensors` as they are called; `direction` backward: the product that computes the
// gradient of the input. `own_queue`: whether the call runs on the library's own. Throws
// InvalidArgument where a kernel can't take the tensors; OutOfMemory, DeviceError, KernelFailure.
void tensor_product_on_gpu(const KernelInfo &kernel, const TensorProductProblem &problem,
                           const TensorProductTensors &tensors, TensorProductMaps::Impl &maps,
                           TensorProductMaps::Impl::Direction direction, bool accumulate,
                           CallContext &context, bool own_queue);

}  // namespace hk::detail
