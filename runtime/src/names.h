#pragma once
// Names of enumerators.

#include <array>
#include <string_view>

namespace hk::detail {

// `names`: in the order of the enumerators. A value that is none of them is "unknown": messages
// may have to name what a caller made by a cast.
template<size_t N, typename Enum>
constexpr std::string_view name_in(const std::array<std::string_view, N> &names, Enum value) {
    const auto place = static_cast<size_t>(value);
    return place < N ? names[place] : "unknown";
}

}  // namespace hk::detail
