#pragma once
// Text in pictures.

#include <string>

#include "pictures/image.h"

namespace hk::filter {

using namespace pictures;

// Draws printable ASCII with the upper left corner at x, y, each dot of the font `scale` pixels wide:
// capitals are 7 dots high. What lies outside of the image is cut off.
void draw_text(Image &image, int x, int y, std::string text, int scale, Colour colour);

}  // namespace hk::filter
