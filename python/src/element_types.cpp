#include "element_types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "hk/error.h"

namespace hk::python {

namespace {

struct Entry {
    DataType type;
    const char *numpy;
    const char *format;
};

constexpr std::array<Entry, kDataTypes> kTypes{{
    {DataType::f32, "float32", "f"},
    {DataType::f16, "float16", "e"},
    {DataType::bf16, "bfloat16", nullptr},
    {DataType::f64, "float64", "d"},
    {DataType::s8, "int8", "b"},
    {DataType::u8, "uint8", "B"},
    {DataType::s16, "int16", "h"},
    {DataType::u16, "uint16", "H"},
    {DataType::s32, "int32", "i"},
    {DataType::u32, "uint32", "I"},
    {DataType::s64, "int64", "q"},
    {DataType::u64, "uint64", "Q"},
}};

const Entry &entry(DataType type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<DataType> type_with(uint8_t code, int64_t bytes) {
    const bool known = bytes > 0 && bytes <= 8;
    return known ? data_type_of({code, static_cast<uint8_t>(bytes * 8), 1}) : std::nullopt;
}

}  // namespace

std::optional<DataType> type_of_format(const char *format, int64_t bytes) {
    if (!format) return bytes == 1 ? std::optional(DataType::u8) : std::nullopt;
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (std::strlen(format) != 1) return std::nullopt;
    if (std::strchr("efd", *format)) return type_with(kDLFloat, bytes);
    if (std::strchr("bhilqn", *format)) return type_with(kDLInt, bytes);
    if (std::strchr("BHILQN", *format)) return type_with(kDLUInt, bytes);
    return std::nullopt;
}

const char *format_of(DataType type) { return entry(type).format; }
const char *numpy_name(DataType type) { return entry(type).numpy; }

std::string in_numpy_names(std::string_view message) {
    const auto in_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    std::string text;
    while (!message.empty()) {
        const auto end = std::ranges::find_if_not(message, in_word);
        const auto length = std::max<size_t>(1, static_cast<size_t>(end - message.begin()));
        const std::string_view word = message.substr(0, length);
        const auto found =
            std::ranges::find(kTypes, word, [](const Entry &e) { return name_of(e.type); });
        text += found != kTypes.end() ? found->numpy : word;
        message.remove_prefix(length);
    }
    return text;
}

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
