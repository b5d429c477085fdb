#pragma once
// Element types of tensors. f16 (IEEE binary16) and bf16 are storage types: kernels accumulate in
// f32 and round once, to nearest even.

#include <cstdint>
#include <string_view>

namespace hk {

enum class DataType : uint8_t { f32, f16, bf16, f64, s8, u8, s16, u16, s32, u32, s64, u64 };

// Bytes an element; 0 for a value that is none of these.
int64_t size_of(DataType type) noexcept;

// "f32", "bf16", …; "unknown" for a value that is none of these, as name_of says of every
// enumeration.
std::string_view name_of(DataType type) noexcept;

// The type with that name; throws InvalidArgument, listing the names, where there is none.
DataType data_type_of(std::string_view name);

// Conversions between f32 and the bits of a 16-bit storage type, to nearest even. NaN stays NaN.
uint16_t f16_from_f32(float value) noexcept;
float f32_from_f16(uint16_t bits) noexcept;
uint16_t bf16_from_f32(float value) noexcept;
float f32_from_bf16(uint16_t bits) noexcept;

}  // namespace hk
