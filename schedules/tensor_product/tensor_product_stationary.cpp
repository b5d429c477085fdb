#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace hk::generators;

namespace hk::schedules {

// The baseline: the sums by themselves, nothing else stored.
void tensor_product_stationary_root(TensorProductStationary &stages, const Context &) {
    stages.sum.compute_root();
}

TensorProductStationarySizes tensor_product_stationary_sizes(const Context &context) {
    if (context.schedule == "matrices") return gpu::tensor_product_matrix_sizes(context);
    if (context.schedule == "tiled") return gpu::tensor_product_tiled_sizes(context);
    return gpu::tensor_product_stationary_sizes(context);
}

}  // namespace hk::schedules
