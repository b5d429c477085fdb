#include "schedules/tensor_product/tensor_product_atomic.h"

using namespace hk::generators;

namespace hk::schedules {

namespace {

// The baseline: the products by themselves, nothing else stored.
void root(TensorProductAtomic &stages, const TensorProductAtomicContext &) {
    stages.product.compute_root();
}

}  // namespace

TensorProductAtomicSizes tensor_product_atomic_sizes(const TensorProductAtomicContext &context) {
    return gpu::tensor_product_atomic_sizes(context);
}

const Table<TensorProductAtomic, TensorProductAtomicContext> &tensor_product_atomic_schedules() {
    static const Table<TensorProductAtomic, TensorProductAtomicContext> table = {
        {"root", root},
        {"gpu", gpu::tensor_product_atomic},
        {"gpu_unstaged", gpu::tensor_product_atomic_unstaged}};
    return table;
}

}  // namespace hk::schedules
