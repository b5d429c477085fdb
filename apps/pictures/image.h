#pragma once
// Pictures in memory and in files.

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace hk::pictures {

struct ImageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Colour = std::array<uint8_t, 3>;

// 8-bit RGB, rows from the top.
struct Image {
    int width = 0, height = 0;
    std::vector<Colour> pixels;

    Image() = default;
    Image(int width, int height, Colour fill = {})
        : width(width), height(height), pixels(static_cast<size_t>(width) * height, fill) {}

    Colour &at(int x, int y) { return pixels[static_cast<size_t>(y) * width + x]; }
    const Colour &at(int x, int y) const { return pixels[static_cast<size_t>(y) * width + x]; }
};

// A PNG or JPEG, told apart by content; transparency is put on white. Throws ImageError.
Image read_image(const std::string &path);
void write_png(const std::string &path, const Image &image);  // throws ImageError

// By area averaging.
Image resized(const Image &image, int width, int height);

}  // namespace hk::pictures
