#include "apps/pictures/image.h"

#include <sys/resource.h>
#include <zlib.h>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "apps/pictures/file.h"
#include "tests/apps/filter/pictures.h"

namespace hk::filter {

using namespace pictures;

namespace {

void write_jpeg(const std::string &path, const Image &image, bool progressive = false) {
    const File file(std::fopen(path.c_str(), "wb"));
    jpeg_compress_struct jpeg{};
    jpeg_error_mgr errors{};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file.get());
    jpeg.image_width = static_cast<JDIMENSION>(image.width);
    jpeg.image_height = static_cast<JDIMENSION>(image.height);
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < image.height; y++) {
        JSAMPROW row = const_cast<JSAMPROW>(image.at(0, y).data());
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
}

std::string error_of(const std::string &path) {
    try {
        read_image(path);
    } catch (const ImageError &error) {
        return error.what();
    }
    return "";
}

TEST(Image, PngIsReadAsItWasWritten) {
    const std::string path = test::own_folder() / "picture.png";
    const Image picture = test_picture(37, 23);
    write_png(path, picture);
    const Image read = read_image(path);
    EXPECT_EQ(read.width, 37);
    EXPECT_EQ(read.height, 23);
    EXPECT_EQ(read.pixels, picture.pixels);
}

TEST(Image, JpegIsReadWhateverItsName) {
    const std::string path = test::own_folder() / "picture.png";
    const Image picture = test_picture(40, 31);
    write_jpeg(path, picture);
    const Image read = read_image(path);
    ASSERT_EQ(read.width, 40);
    ASSERT_EQ(read.height, 31);
    double difference = 0;
    for (size_t i = 0; i < read.pixels.size(); i++) {
        difference += std::abs(read.pixels[i][1] - picture.pixels[i][1]);
    }
    EXPECT_LT(difference / static_cast<double>(read.pixels.size()), 12);
}

TEST(Image, ErrorsNameTheFileAndTheReason) {
    const std::filesystem::path here = test::own_folder();
    EXPECT_EQ(error_of(here / "none.png"),
              (here / "none.png").string() + ": No such file or directory");
    write_text(here / "text.png", "not a picture");
    EXPECT_EQ(error_of(here / "text.png"),
              (here / "text.png").string() + ": neither a PNG nor a JPEG");
    EXPECT_NE(error_of(here), "");
}

TEST(Image, TruncatedFilesAreErrors) {
    const std::filesystem::path here = test::own_folder();
    write_png(here / "whole.png", test_picture(64, 64));
    const std::string png = read_text(here / "whole.png");
    write_text(here / "cut.png", png.substr(0, png.size() / 2));
    EXPECT_NE(error_of(here / "cut.png"), "");
    for (const bool progressive : {false, true}) {
        write_jpeg(here / "whole.jpg", test_picture(64, 64), progressive);
        const std::string jpeg = read_text(here / "whole.jpg");
        EXPECT_EQ(error_of(here / "whole.jpg"), "");
        for (size_t size = 4; size + 2 <= jpeg.size(); size += jpeg.size() / 40) {
            write_text(here / "cut.jpg", jpeg.substr(0, size));
            EXPECT_NE(error_of(here / "cut.jpg"), "") << size << " of " << jpeg.size();
        }
        write_text(here / "cut.jpg", jpeg.substr(0, jpeg.size() - 2));
        EXPECT_NE(error_of(here / "cut.jpg").find("Premature end"), std::string::npos);
    }
}

std::string big_endian(uint32_t value, int bytes) {
    std::string text;
    while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes));
    return text;
}

std::string png_chunk(const std::string &kind, const std::string &data) {
    const std::string of_sum = kind + data;
    const auto *bytes = reinterpret_cast<const Bytef *>(of_sum.data());
    return big_endian(static_cast<uint32_t>(data.size()), 4) + of_sum +
           big_endian(static_cast<uint32_t>(crc32(0, bytes, static_cast<uInt>(of_sum.size()))), 4);
}

// The memory that reading may add: none of the gigabytes that the headers tell of.
void expect_refused_at_once(const std::string &path) {
    rlimit before{};
    getrlimit(RLIMIT_AS, &before);
    const rlimit little{rlim_t{2} << 30, before.rlim_max};
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &little);
#else
    (void)little;
#endif
    const std::string error = error_of(path);
    setrlimit(RLIMIT_AS, &before);
    EXPECT_EQ(error, path + ": it has 60000 x 60000 pixels, at most 100000000 are read");
}

TEST(Image, PixelsAreCountedBeforeTheyAreAllocated) {
    const std::filesystem::path here = test::own_folder();
    const std::string size = big_endian(60000, 4) + big_endian(60000, 4);
    write_text(here / "large.png", "\x89PNG\r\n\x1a\n" +
                                       png_chunk("IHDR", size + std::string("\x08\2\0\0\0", 5)) +
                                       png_chunk("IDAT", "x\x9c") + png_chunk("IEND", ""));
    EXPECT_LT(std::filesystem::file_size(here / "large.png"), 80u);
    expect_refused_at_once(here / "large.png");
    for (const bool progressive : {false, true}) {
        write_jpeg(here / "large.jpg", test_picture(16, 16), progressive);
        std::string jpeg = read_text(here / "large.jpg");
        const size_t frame = jpeg.find(progressive ? "\xff\xc2" : "\xff\xc0");
        ASSERT_NE(frame, std::string::npos);
        jpeg.replace(frame + 5, 4, big_endian(60000, 2) + big_endian(60000, 2));
        write_text(here / "large.jpg", jpeg);
        expect_refused_at_once(here / "large.jpg");
    }
}

TEST(Image, ResizingKeepsTheMean) {
    Image picture(9, 7, {100, 50, 200});
    EXPECT_EQ(resized(picture, 4, 3).pixels, Image(4, 3, {100, 50, 200}).pixels);
    Image two(2, 1);
    two.at(1, 0) = {200, 100, 50};
    EXPECT_EQ(resized(two, 1, 1).at(0, 0), (Colour{100, 50, 25}));
}

}  // namespace
}  // namespace hk::filter
