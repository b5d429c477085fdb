#include "image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>

#include "file.h"
#include "jpeg.h"
#include "program/file.h"

namespace hk::pictures {
namespace {

// libpng's simplified interface, ended however the scope is left.
struct Png {
    png_image image{};

    Png() { image.version = PNG_IMAGE_VERSION; }
    ~Png() { png_image_free(&image); }
    Png(const Png &) = delete;
    Png &operator=(const Png &) = delete;

    void expect(int ok, const std::string &path) const {
        if (!ok) {
            throw ImageError(path + ": " + image.message);
        }
    }
};

struct FreeText {
    void operator()(char **text) const { std::free(*text); }
};

Image read_png(std::FILE *file, const std::string &path) {
    Png png;
    png.expect(png_image_begin_read_from_stdio(&png.image, file), path);
    check_size(path, png.image.width, png.image.height);
    png.image.format = PNG_FORMAT_RGB;
    Image image(static_cast<int>(png.image.width), static_cast<int>(png.image.height));
    const png_color white{255, 255, 255};
    png.expect(png_image_finish_read(&png.image, &white, image.pixels.data(), 0, nullptr), path);
    return image;
}

// The part of source element i that lies in first..last.
double overlap(int i, double first, double last) {
    return std::min<double>(i + 1, last) - std::max<double>(i, first);
}

}  // namespace

Image read_image(const std::string &path) {
    const File file = open_file(path);
    unsigned char start[8]{};
    const size_t length = std::fread(start, 1, sizeof start, file.get());
    std::rewind(file.get());
    if (length == sizeof start && png_sig_cmp(start, 0, sizeof start) == 0) {
        return read_png(file.get(), path);
    }
    if (length >= 3 && start[0] == 0xff && start[1] == 0xd8 && start[2] == 0xff) {
        return read_jpeg(file.get(), path);
    }
    throw ImageError(path + ": neither a PNG nor a JPEG");
}

void check_size(const std::string &path, int64_t width, int64_t height) {
    if (height == 0 || width <= kMostPixels / height) return;
    throw ImageError(path + ": it has " + std::to_string(width) + " x " + std::to_string(height) +
                     " pixels, at most " + std::to_string(kMostPixels) + " are read");
}

void write_png(const std::string &path, const Image &image) {
    char *text = nullptr;
    size_t size = 0;
    File memory(open_memstream(&text, &size));
    if (!memory) throw std::bad_alloc();
    const std::unique_ptr<char *, FreeText> owner(&text);
    Png png;
    png.image.width = static_cast<png_uint_32>(image.width);
    png.image.height = static_cast<png_uint_32>(image.height);
    png.image.format = PNG_FORMAT_RGB;
    png.expect(
        png_image_write_to_stdio(&png.image, memory.get(), 0, image.pixels.data(), 0, nullptr),
        path);
    memory.reset();
    program::write_file(path, {text, size});
}

Image resized(const Image &image, int width, int height) {
    if (width == image.width && height == image.height) {
        return image;
    }
    Image result(width, height);
    const double step_x = static_cast<double>(image.width) / width;
    const double step_y = static_cast<double>(image.height) / height;
    for (int y = 0; y < height; y++) {
        const double top = y * step_y, bottom = std::min<double>(top + step_y, image.height);
        for (int x = 0; x < width; x++) {
            const double left = x * step_x, right = std::min<double>(left + step_x, image.width);
            double sum[3]{}, area = 0;
            for (int v = static_cast<int>(top); v < bottom; v++) {
                for (int u = static_cast<int>(left); u < right; u++) {
                    const double part = overlap(v, top, bottom) * overlap(u, left, right);
                    area += part;
                    for (int c = 0; c < 3; c++) {
                        sum[c] += part * image.at(u, v)[c];
                    }
                }
            }
            for (int c = 0; c < 3; c++) {
                result.at(x, y)[c] = static_cast<uint8_t>(std::lround(sum[c] / area));
            }
        }
    }
    return result;
}

}  // namespace hk::pictures
