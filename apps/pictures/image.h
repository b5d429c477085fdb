#pragma once
// Pictures in memory and in files: libpng, and libjpeg with its warnings as errors; stb_image makes up
// the pixels of a JPEG that is cut off.

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

// Of a picture that is read: 300 MB. A header of a few bytes can name so many that they fill the
// memory.
constexpr int64_t kMostPixels = 100'000'000;

// A PNG or JPEG, told apart by content; transparency is put on white. Throws ImageError, also for
// what is cut off or corrupt, and for more than kMostPixels.
Image read_image(const std::string &path);

// Whole or not at all, as program::write_file has it. Throws ImageError or program::FileError.
void write_png(const std::string &path, const Image &image);

// Throws ImageError where a picture of the file has too many pixels.
void check_size(const std::string &path, int64_t width, int64_t height);

// By area averaging.
Image resized(const Image &image, int width, int height);

}  // namespace hk::pictures
