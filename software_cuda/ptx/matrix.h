// Products of matrices by a warp: PTX ISA, section "mma". Each lane holds a part of A, B, C and D.
#pragma once

#include <array>
#include <cstdint>

namespace software_cuda {

enum class MatrixElement : uint8_t { kF16, kBf16, kTf32, kS8, kU8 };
// In a register of 32 bits.
inline constexpr uint32_t elements_of(MatrixElement type) {
    return type == MatrixElement::kTf32                                  ? 1
           : type == MatrixElement::kF16 || type == MatrixElement::kBf16 ? 2
                                                                         : 4;
}

// D = A * B + C; D is in the instruction. A has 16 rows, B 8 columns, and what is summed is 8 times
// the elements of a register. C is of f32, or of s32 where the elements are integers.
struct MatrixProduct {
    MatrixElement a_type, b_type;
    std::array<uint32_t, 4> a, c;
    std::array<uint32_t, 2> b;
};

}  // namespace software_cuda
