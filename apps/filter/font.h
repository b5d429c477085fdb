#pragma once
// Capitals, digits and some signs on a grid of 5x7.

#include <string_view>

#include "pictures/image.h"

namespace hk::filter {

using namespace pictures;

// The width of a text in pixels; a grid's dot is `scale` pixels.
int text_width(std::string_view text, int scale);
constexpr int text_height(int scale) { return 7 * scale; }

// Draws with the upper left corner at x, y; what lies outside the image is cut off. A tilde draws
// the degree sign.
void draw_text(Image &image, int x, int y, std::string_view text, int scale, Colour colour);

}  // namespace hk::filter
