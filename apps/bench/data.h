#pragma once
// Tensors of bytes and random numbers.

#include <cstddef>

#include "hk/tensor.h"

namespace hk::bench {

// Of f64, f32, f16 or bf16 in host memory: between -1 and 1, multiples of 2^(1 - bits) that are
// rounded to the type.
Tensor random_data(const Shape &shape, DataType type, uint32_t seed, int bits = 32);

// Of a tensor in host memory.
std::byte *bytes_of(const Tensor &tensor);

// A packed copy on a device of what lies there in host memory.
Tensor tensor_of(const Shape &shape, DataType type, const void *data,
                 const Device &device = Device::cpu());

// Fills a tensor, wherever it is, with bits that no result has.
void poison(const Tensor &tensor);

}  // namespace hk::bench
