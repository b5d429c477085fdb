#pragma once
// Schedules of the algorithm in generators/tensor_product/tensor_product_backward_weight.h.

#include "generators/tensor_product/tensor_product_backward_weight.h"
#include "generators/tensor_product/tensor_product_backward_weight_offsets.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct WeightGradientContext : Context {
    Halide::Type type;             // of the tensors
    int vectors;                   // of the output's channels in a sum
    bool exact;                    // as WeightGradientSizes has it
    Halide::Expr output_adjacent;  // whether output channels lie next to each other in the result
};

// Chosen for the target.
struct WeightGradientTile : generators::WeightGradientSizes {
    int stage_input, stage_gradient;  // 1: a chunk's rows are copied first
};
WeightGradientTile weight_gradient_sizes(const WeightGradientContext &context);

// The pairs of a step of the algorithm by offsets.
int weight_gradient_step(const WeightGradientContext &context);

namespace cpu {
void tensor_product_backward_weight(generators::TensorProductBackwardWeight &stages,
                                    const WeightGradientContext &context);
}  // namespace cpu

namespace gpu {
void tensor_product_backward_weight(generators::TensorProductBackwardWeightOffsets &stages,
                                    const WeightGradientContext &context);
void tensor_product_backward_weight_unstaged(generators::TensorProductBackwardWeightOffsets &stages,
                                             const WeightGradientContext &context);
void tensor_product_backward_weight_matrices(generators::TensorProductBackwardWeightOffsets &stages,
                                             const WeightGradientContext &context);

// The second kernel: an element a thread, all its shares.
void add_slices(generators::TensorProductBackwardWeightOffsets &stages);
}  // namespace gpu

void weight_gradient_root(generators::TensorProductBackwardWeight &stages,
                          const WeightGradientContext &);
void weight_gradient_offsets_root(generators::TensorProductBackwardWeightOffsets &stages,
                                  const WeightGradientContext &);

// By the names of the table.
inline const Table<generators::TensorProductBackwardWeight, WeightGradientContext>
    weight_gradient_schedules = {{"root", weight_gradient_root},
                                 {"register_tiles", cpu::tensor_product_backward_weight}};
inline const Table<generators::TensorProductBackwardWeightOffsets, WeightGradientContext>
    weight_gradient_offsets_schedules = {
        {"root", weight_gradient_offsets_root},
        {"staged", gpu::tensor_product_backward_weight},
        {"unstaged", gpu::tensor_product_backward_weight_unstaged}};
inline const Table<generators::TensorProductBackwardWeightOffsets, WeightGradientContext>
    weight_gradient_product_schedules = {
        {"matrices", gpu::tensor_product_backward_weight_matrices}};

}  // namespace hk::schedules
