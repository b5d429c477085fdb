#pragma once
// JSON as text. Not by a library of documents: theirs allocate in destructors, and what tells of
// memory must do so where there is none left.

#include <string>
#include <string_view>

namespace hk::detail {

// A string. U+FFFD stands for each byte that is not UTF-8.
void append_quoted(std::string &text, std::string_view value);

// "[…,…]", of what append(text, value) writes for each.
template<typename Values, typename F>
void append_list(std::string &text, const Values &values, F &&append) {
    const char *comma = "[";
    for (const auto &value : values) {
        text += comma;
        append(text, value);
        comma = ",";
    }
    text += *comma == '[' ? "[]" : "]";
}

}  // namespace hk::detail
