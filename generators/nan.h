#pragma once
// Whether a float is NaN, and an order in which that has a place.

#include "Halide.h"

namespace hk::generators {

// The bits of what an element of 16 or 32 bits, as it was loaded, is without its sign.
inline Halide::Expr magnitude_bits(const Halide::Expr &element) {
    const Halide::Type bits = Halide::UInt(element.type().bits());
    const uint64_t sign = uint64_t{1} << (bits.bits() - 1);
    return Halide::reinterpret(bits, element) & Halide::Internal::make_const(bits, sign - 1);
}

inline uint32_t infinity_bits(Halide::Type type) {
    return type.is_bfloat() ? 0x7f80 : type.bits() == 16 ? 0x7c00 : 0x7f800000;
}

// Of an element as it was loaded, by its bits. is_nan() of an f16 that has been widened is false:
// LLVM's fast arithmetic takes what it widens for a number.
inline Halide::Expr is_nan_by_bits(const Halide::Expr &element) {
    const Halide::Expr magnitude = magnitude_bits(element);
    return magnitude >
           Halide::Internal::make_const(magnitude.type(), infinity_bits(element.type()));
}

// The same by one comparison, where the compiler keeps to it: LLVM for a CPU, of floats.
inline Halide::Expr is_nan_as_loaded(const Halide::Expr &element, const Halide::Target &target) {
    if (element.type() != Halide::Float(32) || target.has_gpu_feature())
        return is_nan_by_bits(element);
    return !Halide::strict_float(element == element);
}

// Integers in the order of elements as they were loaded; zeros are equal, NaNs too, and above all.
inline Halide::Expr order_by_bits(const Halide::Expr &element) {
    const Halide::Type bits = Halide::Int(element.type().bits());
    const Halide::Expr magnitude = Halide::cast<int32_t>(magnitude_bits(element));
    return Halide::select(is_nan_by_bits(element), Halide::Int(32).max(),
                          Halide::reinterpret(bits, element) < 0, -magnitude, magnitude);
}

}  // namespace hk::generators
