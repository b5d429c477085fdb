#pragma once

#include <string>
#include <string_view>

namespace hk::program {

// What a user gave, for a message: without the middle where it is long.
std::string shortened(std::string_view text);
std::string in_quotes(std::string_view text);

}  // namespace hk::program
