#pragma once
// Values of flags that name shapes.

#include <array>
#include <string>

#include "hk/conv2d.h"

namespace hk::explain {

// "1x64x512x512". Throws InvalidArgument, naming the flag.
Shape parse_shape(const std::string &flag, const std::string &text);
Shape parse_shape(const std::string &flag, const std::string &text, size_t rank);

// "2" for both directions, "2x1" for y and x.
std::array<int64_t, 2> parse_pair(const std::string &flag, const std::string &text);

// "1" for all sides, "0x1" for y and x, "0,1,2,3" for top, bottom, left, right.
Padding parse_padding(const std::string &text);

}  // namespace hk::explain
