#include "tests/software_cuda/ptx_reference.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace software_cuda::tests {

bool Wanted::allows(uint64_t result) const {
    switch (kind) {
        case kBits:
            return result == bits;
        case kAnyNan:
            return format->is_nan(result);
        case kNear: {
            const Exact given = decoded(*format, result);
            if (given.kind == Exact::kNan) return false;
            if (given.kind == Exact::kFinite) return std::fabs(value_of(given) - value) <= error;
            const long double end = std::ldexp(1.0L, format->bias() + 1) -
                                    std::ldexp(1.0L, format->bias() - format->fraction_bits - 1);
            return given.negative ? value - error <= -end : value + error >= end;
        }
        default:
            return true;
    }
}

std::string to_string(const Wanted &wanted) {
    std::ostringstream text;
    if (wanted.kind == Wanted::kBits) text << "0x" << std::hex << wanted.bits;
    if (wanted.kind == Wanted::kAnyNan) text << "a NaN";
    if (wanted.kind == Wanted::kNear) text << wanted.value << " +- " << wanted.error;
    if (wanted.kind == Wanted::kOpen) text << "anything";
    return text.str();
}

std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts;
    std::istringstream text{std::string(name)};
    for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
    return parts;
}

IntegerType integer_type(std::string_view name) {
    if (name.size() < 2 || std::string_view("usb").find(name[0]) == std::string_view::npos)
        return {};
    for (const unsigned bits : {8u, 16u, 32u, 64u}) {
        if (name.substr(1) == std::to_string(bits)) return {bits, name[0] == 's'};
    }
    return {};
}

const Format *float_format(std::string_view name) {
    return name == "f16"    ? &kF16
           : name == "bf16" ? &kBf16
           : name == "f32"  ? &kF32
           : name == "f64"  ? &kF64
                            : nullptr;
}

Reference reference_of(std::string_view name) {
    const std::vector<std::string> parts = parts_of(name);
    for (const auto &find : {integer_reference, float_reference, approximation}) {
        if (Reference found = find(parts)) return found;
    }
    return {};
}

}  // namespace software_cuda::tests
