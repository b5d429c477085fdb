#pragma once
// Whether a float is NaN.

#include "Halide.h"

namespace hk::generators {

// Of an element as it was loaded, of 16 or 32 bits, by its bits. is_nan() of an f16 that has been
// widened is false: LLVM's fast arithmetic takes what it widens for a number.
inline Halide::Expr is_nan_by_bits(const Halide::Expr &element) {
    const Halide::Type type = element.type(), bits = Halide::UInt(type.bits());
    const uint64_t infinity = type.is_bfloat() ? 0x7f80 : type.bits() == 16 ? 0x7c00 : 0x7f800000;
    const auto constant = [&](uint64_t value) { return Halide::Internal::make_const(bits, value); };
    const uint64_t sign = uint64_t{1} << (type.bits() - 1);
    return (Halide::reinterpret(bits, element) & constant(sign - 1)) > constant(infinity);
}

}  // namespace hk::generators
