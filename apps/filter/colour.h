#pragma once
// Colours by lightness, chroma and hue (OKLCH, Ottosson 2020), so that equal steps look equal.

#include "pictures/image.h"

namespace hk::filter {

using namespace pictures;

// lightness 0..1, chroma from 0 (grey) to about 0.3, hue in turns.
Colour oklch(double lightness, double chroma, double hue);

// -1..1: teal, dark at zero, amber.
Colour diverging(double value);

// 0..1: dark, amber, nearly white.
Colour glow(double value);

}  // namespace hk::filter
