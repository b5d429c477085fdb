#pragma once
// Names of enumerators.

#include <array>
#include <string>
#include <string_view>

#include "hk/error.h"

namespace hk::detail {

// `names`: in the order of the enumerators. A value that is none of them is "unknown": messages
// may have to name what a caller made by a cast.
template<size_t N, typename Enum>
constexpr std::string_view name_in(const std::array<std::string_view, N> &names, Enum value) {
    const auto place = static_cast<size_t>(value);
    return place < N ? names[place] : "unknown";
}

// Throws InvalidArgument: 'order is "best", not largest or smallest'.
template<typename Enum, size_t N>
Enum value_in(const std::array<std::string_view, N> &names, const char *what,
              std::string_view name) {
    std::string known;
    for (size_t i = 0; i < N; i++) {
        if (names[i] == name) return static_cast<Enum>(i);
        known += (i == 0 ? "" : i + 1 < N ? ", " : " or ") + std::string(names[i]);
    }
    throw InvalidArgument(std::string(what) + " is \"" + std::string(name) + "\", not " + known);
}

}  // namespace hk::detail
