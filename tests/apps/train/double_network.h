#pragma once
// The network of apps/train in double, one term after the other, written apart from it.

#include <cstdint>
#include <vector>

namespace hk::train {

struct DoubleDigits {
    int64_t count = 0;
    std::vector<double> pixels;  // [count, 8, 8]
    std::vector<int32_t> labels;
};

// The mean cross-entropy. `parameters`: weight and bias of each convolution, in the order of the
// layers.
double double_loss(const std::vector<std::vector<double>> &parameters, const DoubleDigits &digits);

}  // namespace hk::train
