#pragma once
// Random tensors.

#include <cstddef>
#include <vector>

#include "hk/tensor.h"

namespace hk::bench {

// A tensor of f64, f32, f16 or bf16 in host memory, and its values as f32.
struct Data {
    std::vector<float> values;
    Tensor tensor;
};

// Between -1 and 1, rounded to the type: multiples of 2^(1 - bits).
Data random_data(const Shape &shape, DataType type, uint32_t seed, int bits = 32);

// Of a tensor in host memory.
std::byte *bytes_of(const Tensor &tensor);

// Fills a tensor, wherever it is, with bits that no result has.
void poison(const Tensor &tensor);

}  // namespace hk::bench
