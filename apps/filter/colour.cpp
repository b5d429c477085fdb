#include "colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hk::filter {
namespace {

uint8_t encode(double linear) {
    const double v = std::clamp(linear, 0.0, 1.0);
    const double encoded = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
    return static_cast<uint8_t>(std::lround(255 * encoded));
}

double mix(double from, double to, double share) { return from + (to - from) * share; }

}  // namespace

Colour oklch(double lightness, double chroma, double hue) {
    const double a = chroma * std::cos(2 * std::numbers::pi * hue);
    const double b = chroma * std::sin(2 * std::numbers::pi * hue);
    const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    return {encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Colour diverging(double value) {
    const double strength = std::pow(std::min(std::abs(value), 1.0), 0.75);
    return value < 0 ? oklch(mix(0.19, 0.86, strength), mix(0.012, 0.115, strength), 0.58)
                     : oklch(mix(0.19, 0.88, strength), mix(0.012, 0.145, strength), 0.20);
}

Colour glow(double value) {
    const double strength = std::pow(std::clamp(value, 0.0, 1.0), 0.7);
    return oklch(mix(0.17, 0.97, strength),
                 0.012 + 0.15 * std::sin(std::numbers::pi * std::min(strength, 0.95)),
                 mix(0.09, 0.25, strength));
}

}  // namespace hk::filter
