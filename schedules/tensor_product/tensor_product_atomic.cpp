#include "schedules/tensor_product/tensor_product_atomic.h"

using namespace hk::generators;

namespace hk::schedules {

// The baseline: the products by themselves, nothing else stored.
void tensor_product_atomic_root(TensorProductAtomic &stages, const Context &) {
    stages.product.compute_root();
}

TensorProductAtomicSizes tensor_product_atomic_sizes(const Context &context) {
    return gpu::tensor_product_atomic_sizes(context);
}

}  // namespace hk::schedules
