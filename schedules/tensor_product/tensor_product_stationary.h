#pragma once
// Schedules of the algorithm in generators/tensor_product/tensor_product_stationary.h.

#include "generators/tensor_product/tensor_product_stationary.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct TensorProductStationaryContext {
    Halide::Target target;
    std::string schedule, knobs;
};

generators::TensorProductStationarySizes tensor_product_stationary_sizes(
    const TensorProductStationaryContext &context);

namespace gpu {
generators::TensorProductStationarySizes tensor_product_stationary_sizes(
    const TensorProductStationaryContext &context);
void tensor_product_stationary(generators::TensorProductStationary &stages,
                               const TensorProductStationaryContext &context);
void tensor_product_stationary_unstaged(generators::TensorProductStationary &stages,
                                        const TensorProductStationaryContext &context);
}  // namespace gpu

void tensor_product_stationary_root(generators::TensorProductStationary &stages,
                                    const TensorProductStationaryContext &);

// By the names of the table.
inline const Table<generators::TensorProductStationary, TensorProductStationaryContext>
    tensor_product_stationary_schedules = {{"root", tensor_product_stationary_root},
                                           {"staged", gpu::tensor_product_stationary},
                                           {"unstaged", gpu::tensor_product_stationary_unstaged}};

}  // namespace hk::schedules
