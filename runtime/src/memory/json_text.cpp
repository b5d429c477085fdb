#include "memory/json_text.h"

#include <cstdint>

namespace hk::detail {

namespace {

// Bytes of the character that the text begins with; 0 where that is not UTF-8.
size_t character(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return 0;
    const size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (text.size() < size) return 0;
    for (size_t i = 1; i < size; i++) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const uint8_t second = byte(1);
    const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool surrogate = first == 0xed && second > 0x9f;
    const bool beyond = first == 0xf4 && second > 0x8f;
    return too_long || surrogate || beyond ? 0 : size;
}

}  // namespace

void append_quoted(std::string &text, std::string_view value) {
    constexpr const char *kDigits = "0123456789abcdef";
    text += '"';
    while (!value.empty()) {
        const size_t size = character(value);
        const char first = value.front();
        if (size == 0) {
            text += "\xef\xbf\xbd";
        } else if (static_cast<uint8_t>(first) < 0x20) {
            (text += "\\u00") += {kDigits[first >> 4], kDigits[first & 15]};
        } else {
            if (first == '"' || first == '\\') text += '\\';
            text += value.substr(0, size);
        }
        value.remove_prefix(size ? size : 1);
    }
    text += '"';
}

}  // namespace hk::detail
