#pragma once
// Floats as exact numbers: what instructions give before they are rounded, and the rounding.

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

namespace software_cuda::tests {

using Integer = boost::multiprecision::cpp_int;

struct Format {
    int exponent_bits, fraction_bits;

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    uint64_t sign() const { return uint64_t{1} << (exponent_bits + fraction_bits); }
    uint64_t infinity() const { return sign() - (uint64_t{1} << fraction_bits); }
    bool is_nan(uint64_t bits) const { return (bits & (sign() - 1)) > infinity(); }
    bool is_subnormal(uint64_t bits) const {
        const uint64_t magnitude = bits & (sign() - 1);
        return magnitude != 0 && magnitude >> fraction_bits == 0;
    }
};
inline constexpr Format kF16{5, 10}, kBf16{8, 7}, kF32{8, 23}, kF64{11, 52};

// What is finite is mantissa * 2^exponent, with a sign.
struct Exact {
    enum Kind : uint8_t { kFinite, kInfinite, kNan } kind = kFinite;
    bool negative = false;
    Integer mantissa = 0;
    int exponent = 0;

    bool is_zero() const { return kind == kFinite && mantissa == 0; }
};

enum class Rounding : uint8_t { kNearestEven, kToZero, kDown, kUp };

Exact decoded(const Format &format, uint64_t bits);
Exact exact_integer(const Integer &value);
// To nearest even; a NaN has all bits but the sign.
uint64_t encoded(const Format &format, const Exact &value);

Exact negated(Exact a);
Exact sum(const Exact &a, const Exact &b);
Exact product(const Exact &a, const Exact &b);
// Truncated to 120 bits or more, with an odd last bit where something was left: they round as the
// exact ones do.
Exact quotient(const Exact &a, const Exact &b);
Exact square_root(const Exact &a);
// To an integer; zeros keep their sign.
Exact rounded(const Exact &a, Rounding rounding);
// -1, 0 or 1 of numbers that are not NaN.
int compared(const Exact &a, const Exact &b);
long double value_of(const Exact &a);

}  // namespace software_cuda::tests
