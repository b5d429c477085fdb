#include "tests/software_cuda/exact_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace software_cuda::tests {

namespace {

constexpr int kQuotientBits = 120;

int bit_length(const Integer &value) {
    return value == 0 ? 0 : static_cast<int>(boost::multiprecision::msb(value)) + 1;
}

Exact nan() { return {.kind = Exact::kNan}; }
Exact infinity(bool negative) { return {.kind = Exact::kInfinite, .negative = negative}; }
Exact zero(bool negative) { return {.negative = negative}; }

// In units of 2^exponent, a lower one.
Integer scaled(const Exact &a, int exponent) { return a.mantissa << (a.exponent - exponent); }

// The mantissa in units of 2^exponent, a higher one, rounded.
Integer rounded_mantissa(const Exact &a, int exponent, Rounding rounding) {
    if (a.exponent >= exponent) return scaled(a, exponent);
    const int dropped = exponent - a.exponent;
    Integer kept = a.mantissa >> dropped;
    const Integer rest = a.mantissa - (kept << dropped), half = Integer(1) << (dropped - 1);
    const bool up = rounding == Rounding::kNearestEven
                        ? rest > half || (rest == half && boost::multiprecision::bit_test(kept, 0))
                        : rest != 0 && ((rounding == Rounding::kUp && !a.negative) ||
                                        (rounding == Rounding::kDown && a.negative));
    if (up) kept += 1;
    return kept;
}

}  // namespace

Exact decoded(const Format &format, uint64_t bits) {
    const uint64_t magnitude = bits & (format.sign() - 1);
    const bool negative = (bits & format.sign()) != 0;
    if (magnitude > format.infinity()) return nan();
    if (magnitude == format.infinity()) return infinity(negative);
    const auto biased = static_cast<int>(magnitude >> format.fraction_bits);
    uint64_t fraction = magnitude & ((uint64_t{1} << format.fraction_bits) - 1);
    if (biased > 0) fraction |= uint64_t{1} << format.fraction_bits;
    return {.negative = negative,
            .mantissa = fraction,
            .exponent = std::max(biased, 1) - format.bias() - format.fraction_bits};
}

Exact exact_integer(const Integer &value) {
    return {.negative = value < 0, .mantissa = abs(value)};
}

uint64_t encoded(const Format &format, const Exact &value) {
    if (value.kind == Exact::kNan) return format.sign() - 1;
    const uint64_t sign = value.negative ? format.sign() : 0;
    if (value.kind == Exact::kInfinite) return sign | format.infinity();
    if (value.mantissa == 0) return sign;
    const int least = 1 - format.bias();
    const int exponent = std::max(value.exponent + bit_length(value.mantissa) - 1, least);
    if (exponent > format.bias()) return sign | format.infinity();
    const auto units = static_cast<uint64_t>(
        rounded_mantissa(value, exponent - format.fraction_bits, Rounding::kNearestEven));
    // A mantissa's first bit, and what it carries, adds to the exponent.
    return sign | ((static_cast<uint64_t>(exponent - least) << format.fraction_bits) + units);
}

Exact negated(Exact a) {
    a.negative = !a.negative;
    return a;
}

Exact sum(const Exact &a, const Exact &b) {
    if (a.kind == Exact::kNan || b.kind == Exact::kNan) return nan();
    if (a.kind == Exact::kInfinite && b.kind == Exact::kInfinite && a.negative != b.negative)
        return nan();
    if (a.kind == Exact::kInfinite) return a;
    if (b.kind == Exact::kInfinite) return b;
    if (a.is_zero() && b.is_zero()) return zero(a.negative && b.negative);
    const int exponent = std::min(a.exponent, b.exponent);
    const Integer x = scaled(a, exponent), y = scaled(b, exponent);
    const Integer total = (a.negative ? -x : x) + (b.negative ? -y : y);
    return {.negative = total < 0, .mantissa = abs(total), .exponent = exponent};
}

Exact product(const Exact &a, const Exact &b) {
    const bool negative = a.negative != b.negative;
    if (a.kind == Exact::kNan || b.kind == Exact::kNan) return nan();
    if (a.kind == Exact::kInfinite || b.kind == Exact::kInfinite)
        return a.is_zero() || b.is_zero() ? nan() : infinity(negative);
    return {.negative = negative,
            .mantissa = a.mantissa * b.mantissa,
            .exponent = a.exponent + b.exponent};
}

Exact quotient(const Exact &a, const Exact &b) {
    const bool negative = a.negative != b.negative;
    if (a.kind == Exact::kNan || b.kind == Exact::kNan) return nan();
    if (a.kind == Exact::kInfinite) return b.kind == Exact::kInfinite ? nan() : infinity(negative);
    if (b.kind == Exact::kInfinite) return zero(negative);
    if (b.is_zero()) return a.is_zero() ? nan() : infinity(negative);
    if (a.is_zero()) return zero(negative);
    const int shift = kQuotientBits + bit_length(b.mantissa);
    const Integer dividend = a.mantissa << shift;
    Integer result = dividend / b.mantissa;
    if (result * b.mantissa != dividend) result |= 1;
    return {.negative = negative, .mantissa = result, .exponent = a.exponent - b.exponent - shift};
}

Exact square_root(const Exact &a) {
    if (a.kind == Exact::kNan || a.is_zero()) return a;
    if (a.negative) return nan();
    if (a.kind == Exact::kInfinite) return a;
    int shift = 2 * kQuotientBits;
    if ((a.exponent - shift) % 2 != 0) shift++;
    const Integer radicand = a.mantissa << shift;
    Integer result = sqrt(radicand);
    if (result * result != radicand) result |= 1;
    return {.mantissa = result, .exponent = (a.exponent - shift) / 2};
}

Exact rounded(const Exact &a, Rounding rounding) {
    if (a.kind != Exact::kFinite || a.exponent >= 0) return a;
    return {.negative = a.negative, .mantissa = rounded_mantissa(a, 0, rounding)};
}

int compared(const Exact &a, const Exact &b) {
    if (a.kind == Exact::kInfinite || b.kind == Exact::kInfinite) {
        const auto side = [](const Exact &x) {
            return x.kind != Exact::kInfinite ? 0 : x.negative ? -1 : 1;
        };
        return side(a) < side(b) ? -1 : side(a) > side(b);
    }
    const Exact difference = sum(a, negated(b));
    return difference.is_zero() ? 0 : difference.negative ? -1 : 1;
}

long double value_of(const Exact &a) {
    if (a.kind == Exact::kNan) return std::numeric_limits<long double>::quiet_NaN();
    const long double magnitude =
        a.kind == Exact::kInfinite ? std::numeric_limits<long double>::infinity()
                                   : std::ldexp(a.mantissa.convert_to<long double>(), a.exponent);
    return a.negative ? -magnitude : magnitude;
}

}  // namespace software_cuda::tests
