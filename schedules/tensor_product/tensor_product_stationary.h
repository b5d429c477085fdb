#pragma once
// Schedules of the algorithm in generators/tensor_product/tensor_product_stationary.h.

#include "generators/tensor_product/tensor_product_stationary.h"
#include "schedules/schedule.h"

namespace hk::schedules {

generators::TensorProductStationarySizes tensor_product_stationary_sizes(const Context &context);

namespace gpu {
generators::TensorProductStationarySizes tensor_product_stationary_sizes(const Context &context);
void tensor_product_stationary(generators::TensorProductStationary &stages, const Context &context);
void tensor_product_stationary_unstaged(generators::TensorProductStationary &stages,
                                        const Context &context);
generators::TensorProductStationarySizes tensor_product_tiled_sizes(const Context &context);
void tensor_product_tiled(generators::TensorProductStationary &stages, const Context &context);
generators::TensorProductStationarySizes tensor_product_matrix_sizes(const Context &context);
void tensor_product_matrices(generators::TensorProductStationary &stages, const Context &context);
}  // namespace gpu

void tensor_product_stationary_root(generators::TensorProductStationary &stages, const Context &);

// By the names of the table.
inline const Table<generators::TensorProductStationary, Context>
    tensor_product_stationary_schedules = {{"root", tensor_product_stationary_root},
                                           {"staged", gpu::tensor_product_stationary},
                                           {"unstaged", gpu::tensor_product_stationary_unstaged},
                                           {"tiled", gpu::tensor_product_tiled},
                                           {"matrices", gpu::tensor_product_matrices}};

}  // namespace hk::schedules
