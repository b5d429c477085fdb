#pragma once
// The definition of softmax cross-entropy evaluated in double.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hk::reference {

struct SoftmaxCrossEntropyResult {
    std::vector<double> loss;                   // of rows
    std::vector<double> probability, gradient;  // of classes, row by row
};

SoftmaxCrossEntropyResult softmax_cross_entropy(const std::vector<double> &logits,
                                                std::size_t classes,
                                                const std::vector<int64_t> &labels, double scale);

}  // namespace hk::reference
