#pragma once
// Pictures in files, for the tests of the filter program.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "apps/pictures/image.h"
#include "tests/support/folder.h"

namespace hk::filter {

using namespace pictures;

// Rings on a slope of colour.
inline Image test_picture(int width, int height) {
    Image image(width, height);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const double ring = std::sin(std::hypot(x - width / 2.0, y - height / 2.0));
            image.at(x, y) = {static_cast<uint8_t>(128 + 100 * ring),
                              static_cast<uint8_t>(255 * x / width),
                              static_cast<uint8_t>(255 * y / height)};
        }
    }
    return image;
}

inline std::string read_text(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path &path, const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace hk::filter
