#include "element_types.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "hk/error.h"

namespace hk::python {

namespace {

struct Entry {
    DataType type;
    const char *numpy;
    DLDataType dlpack;
    const char *format;
};

constexpr std::array<Entry, kDataTypes> kTypes{{
    {DataType::f32, "float32", {kDLFloat, 32, 1}, "f"},
    {DataType::f16, "float16", {kDLFloat, 16, 1}, "e"},
    {DataType::bf16, "bfloat16", {kDLBfloat, 16, 1}, nullptr},
    {DataType::f64, "float64", {kDLFloat, 64, 1}, "d"},
    {DataType::s8, "int8", {kDLInt, 8, 1}, "b"},
    {DataType::u8, "uint8", {kDLUInt, 8, 1}, "B"},
    {DataType::s16, "int16", {kDLInt, 16, 1}, "h"},
    {DataType::u16, "uint16", {kDLUInt, 16, 1}, "H"},
    {DataType::s32, "int32", {kDLInt, 32, 1}, "i"},
    {DataType::u32, "uint32", {kDLUInt, 32, 1}, "I"},
    {DataType::s64, "int64", {kDLInt, 64, 1}, "q"},
    {DataType::u64, "uint64", {kDLUInt, 64, 1}, "Q"},
}};

const Entry &entry(DataType type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<DataType> type_with(uint8_t code, int64_t bits, int lanes) {
    for (const Entry &entry : kTypes) {
        const DLDataType &type = entry.dlpack;
        if (type.code == code && type.bits == bits && lanes == 1) return entry.type;
    }
    return std::nullopt;
}

}  // namespace

DLDataType dlpack_type(DataType type) { return entry(type).dlpack; }

std::optional<DataType> type_of(const DLDataType &type) {
    return type_with(type.code, type.bits, type.lanes);
}

std::optional<DataType> type_of_format(const char *format, int64_t bytes) {
    if (!format) return bytes == 1 ? std::optional(DataType::u8) : std::nullopt;
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (std::strlen(format) != 1) return std::nullopt;
    if (std::strchr("efd", *format)) return type_with(kDLFloat, bytes * 8, 1);
    if (std::strchr("bhilqn", *format)) return type_with(kDLInt, bytes * 8, 1);
    if (std::strchr("BHILQN", *format)) return type_with(kDLUInt, bytes * 8, 1);
    return std::nullopt;
}

const char *format_of(DataType type) { return entry(type).format; }
const char *numpy_name(DataType type) { return entry(type).numpy; }

DataType type_named(std::string text) {
    if (const size_t dot = text.rfind('.'); dot != text.npos) text.erase(0, dot + 1);
    if (const size_t quote = text.find('\''); quote != text.npos) text.resize(quote);
    const auto found = std::ranges::find(kTypes, std::string_view(text), &Entry::numpy);
    return found != kTypes.end() ? found->type : data_type_of(text);
}

std::string words_of(const DLDataType &type) {
    return "code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
           std::to_string(type.lanes) + " lanes";
}

}  // namespace hk::python
