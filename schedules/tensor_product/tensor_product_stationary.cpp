#include "schedules/tensor_product/tensor_product_stationary.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: the sums by themselves, nothing else stored.
void root(TensorProductStationary &stages, const TensorProductStationaryContext &) {
    stages.sum.compute_root();
}

}  // namespace

TensorProductStationarySizes tensor_product_stationary_sizes(
    const TensorProductStationaryContext &context) {
    return gpu::tensor_product_stationary_sizes(context);
}

const Table<TensorProductStationary, TensorProductStationaryContext>
    &tensor_product_stationary_schedules() {
    static const Table<TensorProductStationary, TensorProductStationaryContext> table = {
        {"root", root},
        {"gpu", gpu::tensor_product_stationary},
        {"gpu_unstaged", gpu::tensor_product_stationary_unstaged}};
    return table;
}

}  // namespace hk::schedules
