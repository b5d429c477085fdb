// Approximate instructions: any result within the error that the ISA grants, and what it says of
// special values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "tests/software_cuda/ptx_reference.h"

namespace software_cuda::tests {

namespace {

using Parts = std::vector<std::string>;
using Real = long double;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
// Nothing is nearer to a number than the least subnormal is to zero.
constexpr Real kLeast = 0x1p-149L;

uint64_t flushed(uint64_t bits) { return kF32.is_subnormal(bits) ? bits & kF32.sign() : bits; }

Real value_of_f32(uint64_t bits) { return value_of(decoded(kF32, bits & 0xffffffff)); }

// A number and its greatest error; none where the ISA says nothing.
struct Approximate {
    Real value, error;
};
using Approximation = std::optional<Approximate> (*)(Real a, Real b);

Approximate relative(Real value, Real error) {
    return {value, std::max(std::fabs(value) * error, kLeast)};
}
// Units in the last place, which is at most 2^-23 of the value.
Approximate units(Real value, Real count) { return relative(value, count * 0x1p-23L); }

std::optional<Approximate> divided(Real a, Real b) {
    const Real magnitude = std::fabs(b);
    if (b != 0 && magnitude < 0x1p-126L) return std::nullopt;
    if (magnitude > 0x1p126L && magnitude < kInfinity) {
        const Real zero = std::copysign(0.0L, a * b);
        return Approximate{std::isinf(a) ? std::nanl("") : std::isnan(a) ? a : zero, 0};
    }
    return units(a / b, 2);
}
std::optional<Approximate> divided_in_full_range(Real a, Real b) { return units(a / b, 2); }
std::optional<Approximate> reciprocal(Real a, Real) { return units(1 / a, 1); }
std::optional<Approximate> root(Real a, Real) { return relative(std::sqrt(a), 0x1p-23L); }
std::optional<Approximate> reciprocal_root(Real a, Real) {
    return relative(1 / std::sqrt(a), std::exp2(-22.9L));
}
std::optional<Approximate> power_of_two(Real a, Real) { return units(std::exp2(a), 2); }
std::optional<Approximate> logarithm(Real a, Real) {
    const Real value = std::log2(a);
    if (a > 0.5L && a < 2) return Approximate{value, 0x1p-22L};
    return relative(value, 0x1p-22L);
}
// Errors are stated up to 100 pi.
template<Real (*function)(Real)>
std::optional<Approximate> of_angle(Real a, Real) {
    if (std::isfinite(a) && std::fabs(a) > 100 * std::numbers::pi_v<Real>) return std::nullopt;
    const bool near = std::fabs(a) <= 2 * std::numbers::pi_v<Real>;
    return Approximate{function(a), std::exp2(near ? -20.5L : -14.7L)};
}
Real sine(Real a) { return std::sin(a); }
Real cosine(Real a) { return std::cos(a); }
std::optional<Approximate> hyperbolic_tangent(Real a, Real) {
    return relative(std::tanh(a), 0x1p-11L);
}

Approximation approximation_of(const Parts &parts) {
    const std::string name = parts[0] + "." + parts[1];
    constexpr std::pair<const char *, Approximation> known[] = {
        {"div.approx", divided},           {"div.full", divided_in_full_range},
        {"rcp.approx", reciprocal},        {"sqrt.approx", root},
        {"rsqrt.approx", reciprocal_root}, {"ex2.approx", power_of_two},
        {"lg2.approx", logarithm},         {"sin.approx", of_angle<sine>},
        {"cos.approx", of_angle<cosine>},  {"tanh.approx", hyperbolic_tangent}};
    for (const auto &[text, approximation] : known) {
        if (name == text) return approximation;
    }
    return nullptr;
}

}  // namespace

Reference approximation(const Parts &parts) {
    const bool flushes = parts.size() == 4 && parts[2] == "ftz";
    if (parts.size() != (flushes ? 4 : 3) || parts.back() != "f32") return {};
    const Approximation approximation = approximation_of(parts);
    if (!approximation) return {};
    return [=](const Operands &o) {
        const auto operand = [&](uint64_t bits) {
            return value_of_f32(flushes ? flushed(bits & 0xffffffff) : bits);
        };
        const auto about = approximation(operand(o.a), operand(o.b));
        if (!about) return Wanted{.kind = Wanted::kOpen};
        if (std::isnan(about->value)) return Wanted{.bits = 0x7fffffff};
        const bool exact = about->value == 0 || std::isinf(about->value) || about->error == 0;
        if (exact) {
            const Exact value{.kind = std::isinf(about->value) ? Exact::kInfinite : Exact::kFinite,
                              .negative = std::signbit(about->value)};
            return Wanted{.bits = encoded(kF32, value)};
        }
        // A subnormal result is flushed, or a normal one beside it.
        Real error = about->error;
        if (flushes && std::fabs(about->value) - error < 0x1p-126L)
            error = std::max(error, std::fabs(about->value));
        return Wanted{
            .kind = Wanted::kNear, .value = about->value, .error = error, .format = &kF32};
    };
}

}  // namespace software_cuda::tests
