#include "apps/pictures/image.h"

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "apps/pictures/file.h"
#include "tests/apps/filter/pictures.h"

namespace hk::filter {

using namespace pictures;

namespace {

void write_jpeg(const std::string &path, const Image &image) {
    const File file = open_file(path, "wb");
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
    const std::string path = folder() / "picture.png";
    const Image picture = test_picture(37, 23);
    write_png(path, picture);
    const Image read = read_image(path);
    EXPECT_EQ(read.width, 37);
    EXPECT_EQ(read.height, 23);
    EXPECT_EQ(read.pixels, picture.pixels);
}

TEST(Image, JpegIsReadWhateverItsName) {
    const std::string path = folder() / "picture.png";
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
    const std::filesystem::path here = folder();
    EXPECT_EQ(error_of(here / "none.png"),
              (here / "none.png").string() + ": No such file or directory");
    write_text(here / "text.png", "not a picture");
    EXPECT_EQ(error_of(here / "text.png"),
              (here / "text.png").string() + ": neither a PNG nor a JPEG");
    EXPECT_NE(error_of(here), "");
}

TEST(Image, TruncatedFilesAreErrors) {
    const std::filesystem::path here = folder();
    write_png(here / "whole.png", test_picture(64, 64));
    const std::string png = read_text(here / "whole.png");
    write_text(here / "cut.png", png.substr(0, png.size() / 2));
    EXPECT_NE(error_of(here / "cut.png"), "");
    write_jpeg(here / "whole.jpg", test_picture(64, 64));
    write_text(here / "cut.jpg", read_text(here / "whole.jpg").substr(0, 100));
    EXPECT_NE(error_of(here / "cut.jpg"), "");
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
