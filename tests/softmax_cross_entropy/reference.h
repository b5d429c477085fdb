#pragma once
// The definition of softmax cross-entropy evaluated in double.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hk/data_type.h"

namespace hk::reference {

struct SoftmaxCrossEntropyResult {
    std::vector<double> loss;                   // of rows
    std::vector<double> probability, gradient;  // of classes, row by row
};

SoftmaxCrossEntropyResult softmax_cross_entropy(const std::vector<double> &logits,
                                                std::size_t classes,
                                                const std::vector<int64_t> &labels, double scale);

// How far a right kernel's results may lie from these.
double loss_tolerance(int64_t classes, double loss);
double gradient_tolerance(DataType type, int64_t classes, double gradient, double probability,
                          double scale);

}  // namespace hk::reference
