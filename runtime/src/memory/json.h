#pragma once
// The little of JSON that traces and snapshots are. Rejected: nlohmann-json, which tests and
// programs read them with; here it would make every application 37 KB larger.

#include <charconv>
#include <string>
#include <string_view>

namespace hk::detail {

class JsonText {
public:
    JsonText &raw(std::string_view text) {
        text_ += text;
        return *this;
    }

    JsonText &number(auto value) {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        text_.append(digits, end);
        return *this;
    }

    JsonText &string(std::string_view text) {
        text_ += '"';
        for (const char c : text) {
            if (c == '"' || c == '\\') text_ += '\\';
            if (static_cast<unsigned char>(c) >= 0x20) {
                text_ += c;
                continue;
            }
            constexpr char kDigits[] = "0123456789abcdef";
            text_ += "\\u00";
            text_ += kDigits[c >> 4];
            text_ += kDigits[c & 15];
        }
        text_ += '"';
        return *this;
    }

    // `"name":`
    JsonText &key(std::string_view name) { return string(name).raw(":"); }

    // [a,b,…], each written by write(*this, element).
    template<typename Elements, typename Write>
    JsonText &array(const Elements &elements, Write &&write) {
        const char *comma = "[";
        for (const auto &element : elements) {
            text_ += comma;
            write(*this, element);
            comma = ",";
        }
        return raw(elements.empty() ? "[]" : "]");
    }

    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

}  // namespace hk::detail
