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

// Those of all elements.
void fill_bits(const Tensor &tensor, uint64_t bits);

// The place in a packed tensor of the first element that has these bits, or others; of the first
// that differs from that of another packed tensor of its shape and type. -1: there is none.
int64_t first_with_bits(const Tensor &packed, uint64_t bits);
int64_t first_without_bits(const Tensor &packed, uint64_t bits);
int64_t first_difference(const Tensor &a, const Tensor &b);

// The value that an element of the type holds after rounding, a 16-bit one by way of f32.
double rounded(DataType type, double value);

}  // namespace hk::reference
