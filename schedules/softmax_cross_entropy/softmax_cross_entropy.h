#pragma once
// Schedules of the algorithm in generators/softmax_cross_entropy/softmax_cross_entropy.h.

#include "generators/softmax_cross_entropy/softmax_cross_entropy.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct SoftmaxCrossEntropyContext : Context {
    Halide::Expr rows, classes;
};

struct SoftmaxCrossEntropyTile {
    int lanes;     // of a row: they decide the order of adding, and so the last bits of a sum
    int keep = 1;  // of powers: a row of them is kept; 0: they are made again for the gradient
};

SoftmaxCrossEntropyTile softmax_cross_entropy_tile(const SoftmaxCrossEntropyContext &context);

namespace cpu {
void softmax_cross_entropy_vector_per_row(generators::SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &context);
void softmax_cross_entropy_vector_of_rows(generators::SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &context);
}  // namespace cpu

namespace gpu {
void softmax_cross_entropy_block_per_row(generators::SoftmaxCrossEntropy &stages,
                                         const SoftmaxCrossEntropyContext &context);
void softmax_cross_entropy_thread_per_row(generators::SoftmaxCrossEntropy &stages,
                                          const SoftmaxCrossEntropyContext &context);
}  // namespace gpu

// By the names of the table.
using SoftmaxCrossEntropyTable = Table<generators::SoftmaxCrossEntropy, SoftmaxCrossEntropyContext>;
inline const SoftmaxCrossEntropyTable softmax_cross_entropy_schedules = {
    {"root", root_of_sizes},
    {"block_per_row", gpu::softmax_cross_entropy_block_per_row},
    {"thread_per_row", gpu::softmax_cross_entropy_thread_per_row}};
inline const SoftmaxCrossEntropyTable softmax_of_powers_schedules = {
    {"root", root_of_sizes},
    {"vector_per_row", cpu::softmax_cross_entropy_vector_per_row},
    {"vector_of_rows", cpu::softmax_cross_entropy_vector_of_rows}};

}  // namespace hk::schedules
