#include "quote.h"

namespace hk::program {

std::string shortened(std::string_view text) {
    constexpr size_t kLongest = 200, kKept = 60;
    if (text.size() <= kLongest) return std::string(text);
    return std::string(text.substr(0, kKept)) + "…" +
           std::string(text.substr(text.size() - kKept)) + " (" + std::to_string(text.size()) +
           " characters)";
}

std::string in_quotes(std::string_view text) { return '"' + shortened(text) + '"'; }

}  // namespace hk::program
