#include "hk/data_type.h"

#include <array>
#include <bit>
#include <string>

#include "hk/error.h"
#include "names.h"

namespace hk {

namespace {

// In the order of DataType.
constexpr std::array<std::string_view, 12> kNames{"f32", "f16", "bf16", "f64", "s8",  "u8",
                                                  "s16", "u16", "s32",  "u32", "s64", "u64"};
constexpr std::array<int64_t, 12> kSizes{4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8};

}  // namespace

int64_t size_of(DataType type) noexcept {
    const auto place = static_cast<size_t>(type);
    return place < kSizes.size() ? kSizes[place] : 0;
}

std::string_view name_of(DataType type) noexcept { return detail::name_in(kNames, type); }

DataType data_type_of(std::string_view name) {
    std::string names;
    for (size_t i = 0; i < kNames.size(); i++) {
        if (kNames[i] == name) return static_cast<DataType>(i);
        names += (i ? ", " : "") + std::string(kNames[i]);
    }
    throw InvalidArgument("data type is \"" + std::string(name) + "\", not one of " + names);
}

uint16_t f16_from_f32(float value) noexcept {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
        return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x1ff));
    }
    if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to infinity
    if (magnitude >= 0x38800000) {                      // 2^-14, the smallest normal f16
        magnitude += 0xfff + (magnitude >> 13 & 1);
        return static_cast<uint16_t>(sign | (magnitude - 0x38000000) >> 13);
    }
    // Floats in [0.5, 1) are 2^-24 apart, as subnormal f16 are: the addition rounds.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000));
}

float f32_from_f16(uint16_t bits) noexcept {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 0x1f;
    const uint32_t mantissa = bits & 0x3ff;
    if (exponent == 0) {
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
        return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
    }
    const uint32_t rebased = exponent == 0x1f ? 0xff : exponent + 112;
    return std::bit_cast<float>(sign | rebased << 23 | mantissa << 13);
}

uint16_t bf16_from_f32(float value) noexcept {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float f32_from_bf16(uint16_t bits) noexcept {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace hk
