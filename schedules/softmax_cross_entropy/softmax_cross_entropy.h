#pragma once
// Schedules of the algorithm in generators/softmax_cross_entropy/softmax_cross_entropy.h.

#include "generators/softmax_cross_entropy/softmax_cross_entropy.h"
#include "schedules/schedule.h"

namespace hk::schedules {

struct SoftmaxCrossEntropyContext {
    Halide::Target target;
    std::string schedule, knobs;
    Halide::Expr classes;
};

// Lanes of a row: they decide the order of adding, and so the last bits of a sum.
int softmax_cross_entropy_lanes(const SoftmaxCrossEntropyContext &context);

namespace cpu {
void softmax_cross_entropy(generators::SoftmaxCrossEntropy &stages,
                           const SoftmaxCrossEntropyContext &context);
}  // namespace cpu

namespace gpu {
void softmax_cross_entropy(generators::SoftmaxCrossEntropy &stages,
                           const SoftmaxCrossEntropyContext &context);
void softmax_cross_entropy_unstaged(generators::SoftmaxCrossEntropy &stages,
                                    const SoftmaxCrossEntropyContext &context);
}  // namespace gpu

// By the names of the table.
inline const Table<generators::SoftmaxCrossEntropy, SoftmaxCrossEntropyContext>
    softmax_cross_entropy_schedules = {{"root", root_of_sizes},
                                       {"cpu", cpu::softmax_cross_entropy},
                                       {"gpu", gpu::softmax_cross_entropy},
                                       {"gpu_unstaged", gpu::softmax_cross_entropy_unstaged}};

}  // namespace hk::schedules
