#pragma once
// What products of matrices are, an element at a time.

#include <bit>
#include <cstdint>

namespace software_cuda::tests {

// Elements as their bits.
struct Matrices {
    uint32_t a[16][32] = {}, b[32][8] = {}, c[16][8] = {};
};

struct ProductForm {
    const char *name, *a_type, *b_type;
    int depth, step;  // of a sum, and of what is summed at once

    bool is_float() const { return depth <= 16; }
    unsigned bits() const { return 256 / static_cast<unsigned>(depth); }
};

inline float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t bits_of_float(float value) { return std::bit_cast<uint32_t>(value); }

// The bits of D's element.
uint32_t product_of(const ProductForm &form, const Matrices &m, int row, int column);

}  // namespace software_cuda::tests
