#pragma once
// Data of the consumers.

#include <algorithm>
#include <random>

#include "hk/tensor.h"

// Normally distributed, f32 in host memory.
inline hk::Tensor random(const hk::Shape &shape, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    const hk::Tensor tensor(shape, hk::DataType::f32);
    std::generate_n(tensor.data<float>(), tensor.elements(), [&] { return normal(generator); });
    return tensor;
}
