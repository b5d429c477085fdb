// Instructions of floats that are rounded exactly, and their conversions.
#include <map>

#include "tests/software_cuda/ptx_reference.h"

namespace software_cuda::tests {

namespace {

using Parts = std::vector<std::string>;

bool has(const Parts &parts, std::string_view part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
}

// .ftz: a subnormal is a zero of its sign.
uint64_t flushed(uint64_t bits) { return kF32.is_subnormal(bits) ? bits & kF32.sign() : bits; }

uint64_t mask(const Format &format) { return 2 * format.sign() - 1; }

// A NaN is all ones but the sign in 32 bits and less, any in 64.
Wanted result(const Format &format, const Exact &value, bool flushes) {
    if (value.kind == Exact::kNan && &format == &kF64)
        return {.kind = Wanted::kAnyNan, .format = &format};
    const uint64_t bits = encoded(format, value);
    return {.bits = flushes ? flushed(bits) : bits};
}

using Compute = Exact (*)(const Exact &, const Exact &, const Exact &);

// "min" and "max": a NaN only of two, and -0 is less than +0.
bool is_less(const Exact &a, const Exact &b) {
    if (a.is_zero() && b.is_zero()) return a.negative && !b.negative;
    return compared(a, b) < 0;
}
Exact lesser(const Exact &a, const Exact &b, const Exact &) {
    if (a.kind == Exact::kNan) return b;
    return b.kind == Exact::kNan || is_less(a, b) ? a : b;
}
Exact greater(const Exact &a, const Exact &b, const Exact &) {
    if (a.kind == Exact::kNan) return b;
    return b.kind == Exact::kNan || is_less(b, a) ? a : b;
}

// Of names without their modifiers.
Compute computation(const std::string &name) {
    static const std::map<std::string, Compute> computations{
        {"add", [](const Exact &a, const Exact &b, const Exact &) { return sum(a, b); }},
        {"sub", [](const Exact &a, const Exact &b, const Exact &) { return sum(a, negated(b)); }},
        {"mul", [](const Exact &a, const Exact &b, const Exact &) { return product(a, b); }},
        {"fma",
         [](const Exact &a, const Exact &b, const Exact &c) { return sum(product(a, b), c); }},
        {"div", [](const Exact &a, const Exact &b, const Exact &) { return quotient(a, b); }},
        {"rcp", [](const Exact &a, const Exact &,
                   const Exact &) { return quotient(exact_integer(1), a); }},
        {"sqrt", [](const Exact &a, const Exact &, const Exact &) { return square_root(a); }},
        {"min", lesser},
        {"max", greater}};
    const auto found = computations.find(name);
    return found == computations.end() ? nullptr : found->second;
}

Reference arithmetic(const Parts &parts, const Format &format) {
    const Compute compute = computation(parts[0]);
    if (!compute || has(parts, "approx") || has(parts, "full")) return {};
    return [compute, &format, flushes = has(parts, "ftz"),
            nan_wins = has(parts, "NaN")](const Operands &o) {
        const auto operand = [&](uint64_t bits) {
            bits &= mask(format);
            return decoded(format, flushes ? flushed(bits) : bits);
        };
        const Exact a = operand(o.a), b = operand(o.b);
        for (const Exact &one : {a, b})
            if (nan_wins && one.kind == Exact::kNan) return result(format, one, flushes);
        return result(format, compute(a, b, operand(o.c)), flushes);
    };
}

// Bits of numbers; of a NaN any.
Reference sign_change(const Parts &parts, const Format &format) {
    const bool negates = parts[0] == "neg";
    return [negates, &format](const Operands &o) {
        const uint64_t a = o.a & mask(format);
        if (format.is_nan(a)) return Wanted{.kind = Wanted::kAnyNan, .format = &format};
        return Wanted{.bits = negates ? a ^ format.sign() : a & ~format.sign()};
    };
}

// Section "setp": those that end in u are true of NaNs.
Reference comparison(const std::string &relation, const Format &format) {
    using Test = bool (*)(int);
    static const std::map<std::string, Test> tests{{"eq", [](int order) { return order == 0; }},
                                                   {"ne", [](int order) { return order != 0; }},
                                                   {"lt", [](int order) { return order < 0; }},
                                                   {"le", [](int order) { return order <= 0; }},
                                                   {"gt", [](int order) { return order > 0; }},
                                                   {"ge", [](int order) { return order >= 0; }},
                                                   {"num", [](int) { return true; }},
                                                   {"nan", [](int) { return false; }}};
    const bool of_nan = relation == "nan" || (relation.size() == 3 && relation[2] == 'u');
    const auto test = tests.find(of_nan && relation != "nan" ? relation.substr(0, 2) : relation);
    if (test == tests.end()) return {};
    return [of_nan, test = test->second, &format](const Operands &o) {
        const Exact a = decoded(format, o.a & mask(format)),
                    b = decoded(format, o.b & mask(format));
        const bool unordered = a.kind == Exact::kNan || b.kind == Exact::kNan;
        return Wanted{.bits = unordered ? of_nan : test(compared(a, b))};
    };
}

Rounding rounding_of(const std::string &part) {
    return part == "rzi"   ? Rounding::kToZero
           : part == "rmi" ? Rounding::kDown
           : part == "rpi" ? Rounding::kUp
                           : Rounding::kNearestEven;
}

// Out of range is the nearest value that there is. Section "cvt", "Integer Notes", on NaN.
Wanted to_integer(const Exact &value, IntegerType to, bool from_f64) {
    const Integer end = Integer(1) << (to.is_signed ? to.bits - 1 : to.bits);
    const Integer first = to.is_signed ? -end : Integer(0), last = end - 1;
    if (value.kind == Exact::kNan)
        return {.bits = from_f64 || to.bits == 64 ? uint64_t{1} << (to.bits - 1) : 0};
    Integer number = value.kind == Exact::kInfinite ? end : value.mantissa << value.exponent;
    if (value.negative) number = -number;
    number = std::min(std::max(number, first), last);
    const Integer bits = number < 0 ? number + (Integer(1) << to.bits) : number;
    return {.bits = static_cast<uint64_t>(bits)};
}

// Section "cvt": the first operand becomes the upper half.
Reference conversion_of_two(const Format &to) {
    return [&to](const Operands &o) {
        const auto half = [&](uint64_t bits) {
            return result(to, decoded(kF32, bits & mask(kF32)), false).bits;
        };
        return Wanted{.bits = half(o.a) << 16 | half(o.b)};
    };
}

Reference conversion(const Parts &parts) {
    if (parts == Parts{"cvt", "rn", "f16x2", "f32"}) return conversion_of_two(kF16);
    if (parts == Parts{"cvt", "rn", "bf16x2", "f32"})
        return conversion_of_two(*float_format("bf16"));
    const std::string &to_name = parts[parts.size() - 2], &from_name = parts.back();
    const Format *const to = float_format(to_name), *const from = float_format(from_name);
    const IntegerType to_integers = integer_type(to_name), from_integers = integer_type(from_name);
    const std::string rounding = parts.size() > 3 ? parts[1] : "";
    const bool flushes = has(parts, "ftz"), to_whole = rounding.ends_with("i");
    if (to && from_integers.bits) {
        return [=](const Operands &o) {
            Integer number = o.a & (~uint64_t{0} >> (64 - from_integers.bits));
            if (from_integers.is_signed && bit_test(number, from_integers.bits - 1))
                number -= Integer(1) << from_integers.bits;
            return result(*to, exact_integer(number), false);
        };
    }
    if (!from || (!to && (!to_integers.bits || !to_whole))) return {};
    return [=](const Operands &o) {
        const uint64_t bits = o.a & mask(*from);
        Exact value = decoded(*from, flushes ? flushed(bits) : bits);
        if (to_whole) value = rounded(value, rounding_of(rounding));
        if (!to) return to_integer(value, to_integers, from == &kF64);
        if (value.kind == Exact::kNan && from == &kBf16)
            return Wanted{.kind = Wanted::kAnyNan, .format = to};
        return result(*to, value, flushes);
    };
}

}  // namespace

Reference float_reference(const Parts &parts) {
    if (parts[0] == "cvt" && parts.size() > 2) return conversion(parts);
    const Format *const format = float_format(parts.back());
    if (!format) return {};
    if (parts[0] == "setp") return comparison(parts[1], *format);
    if (parts[0] == "neg" || parts[0] == "abs") return sign_change(parts, *format);
    return arithmetic(parts, *format);
}

}  // namespace software_cuda::tests
