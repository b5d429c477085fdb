#pragma once
// Elements of host tensors as doubles, or as their bits.

#include <span>
#include <vector>

#include "hk/tensor.h"

namespace hk::reference {

// In row-major order of the tensor's shape, whatever its strides.
std::vector<double> read(const Tensor &tensor);

// Rounds each value to the tensor's type, a 16-bit one by way of f32; integer types throw
// std::invalid_argument for what they can't hold.
void write(const Tensor &tensor, std::span<const double> values);

// The bits of each element, in row-major order of the shape, whatever the strides.
std::vector<uint64_t> bits(const Tensor &tensor);
void write_bits(const Tensor &tensor, std::span<const uint64_t> bits);

// Those of the element at a place of a packed tensor.
uint64_t bits_at(const Tensor &packed, int64_t place);

// The value that an element of the type holds after rounding, a 16-bit one by way of f32.
double rounded(DataType type, double value);

}  // namespace hk::reference
