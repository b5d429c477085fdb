#pragma once
// Schedules of the algorithm in generators/tensor_product/tensor_product.h.

#include "generators/tensor_product/tensor_product.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct TensorProductContext : Context {
    Halide::Type type;  // of the tensors
    int vectors;        // of the output's channels a block
    Halide::Expr offsets;
    Halide::Expr weight_adjacent;  // whether output channels lie next to each other in it
};

// Chosen for the target.
struct TensorProductTile : generators::TensorProductSizes {
    int unroll;  // channels of the input
    int stage;   // 1: a group's rows of the input are gathered first
};
TensorProductTile tensor_product_sizes(const TensorProductContext &context);

namespace cpu {
void tensor_product(generators::TensorProduct &stages, const TensorProductContext &context);
}  // namespace cpu

void tensor_product_root(generators::TensorProduct &stages, const TensorProductContext &);

// By the names of the table.
inline const Table<generators::TensorProduct, TensorProductContext> tensor_product_schedules = {
    {"root", tensor_product_root}, {"register_tiles", cpu::tensor_product}};

}  // namespace hk::schedules
