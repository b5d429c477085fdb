#pragma once
// Schedules of the algorithm in generators/tensor_product/tensor_product_atomic.h.

#include "generators/tensor_product/tensor_product_atomic.h"
#include "schedules/schedule.h"

namespace hk::schedules {

generators::TensorProductAtomicSizes tensor_product_atomic_sizes(const Context &context);

namespace gpu {
generators::TensorProductAtomicSizes tensor_product_atomic_sizes(const Context &context);
void tensor_product_atomic(generators::TensorProductAtomic &stages, const Context &context);
void tensor_product_atomic_unstaged(generators::TensorProductAtomic &stages,
                                    const Context &context);
}  // namespace gpu

void tensor_product_atomic_root(generators::TensorProductAtomic &stages, const Context &);

// By the names of the table.
inline const Table<generators::TensorProductAtomic, Context> tensor_product_atomic_schedules = {
    {"root", tensor_product_atomic_root},
    {"staged", gpu::tensor_product_atomic},
    {"unstaged", gpu::tensor_product_atomic_unstaged}};

}  // namespace hk::schedules
