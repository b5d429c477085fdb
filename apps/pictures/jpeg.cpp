#include "jpeg.h"

#include <csetjmp>
#include <cstddef>

#include <jpeglib.h>

namespace hk::pictures {
namespace {

// libjpeg reports errors by a function that must not return. It leaves by longjmp, so the functions
// that call setjmp hold nothing with a destructor.
struct Decoder {
    jpeg_error_mgr errors{};  // first: libjpeg hands back its address
    std::jmp_buf failed;
    char message[JMSG_LENGTH_MAX]{};
    jpeg_decompress_struct jpeg{};

    Decoder() = default;
    ~Decoder() { jpeg_destroy_decompress(&jpeg); }
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;
};
static_assert(offsetof(Decoder, errors) == 0);

[[noreturn]] void fail(j_common_ptr jpeg) {
    auto *decoder = reinterpret_cast<Decoder *>(jpeg->err);
    jpeg->err->format_message(jpeg, decoder->message);
    std::longjmp(decoder->failed, 1);
}

void keep_silent(j_common_ptr) {}

bool read_header(Decoder &decoder, std::FILE *file) {
    decoder.jpeg.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = fail;
    decoder.errors.output_message = keep_silent;
    if (setjmp(decoder.failed)) {
        return false;
    }
    jpeg_create_decompress(&decoder.jpeg);
    jpeg_stdio_src(&decoder.jpeg, file);
    jpeg_read_header(&decoder.jpeg, TRUE);
    decoder.jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&decoder.jpeg);
    return true;
}

bool read_pixels(Decoder &decoder, Colour *pixels) {
    if (setjmp(decoder.failed)) {
        return false;
    }
    while (decoder.jpeg.output_scanline < decoder.jpeg.output_height) {
        JSAMPROW row =
            pixels->data() + size_t{3} * decoder.jpeg.output_width * decoder.jpeg.output_scanline;
        jpeg_read_scanlines(&decoder.jpeg, &row, 1);
    }
    jpeg_finish_decompress(&decoder.jpeg);
    return true;
}

}  // namespace

Image read_jpeg(std::FILE *file, const std::string &path) {
    Decoder decoder;
    if (!read_header(decoder, file)) {
        throw ImageError(path + ": " + decoder.message);
    }
    Image image(static_cast<int>(decoder.jpeg.output_width),
                static_cast<int>(decoder.jpeg.output_height));
    if (!read_pixels(decoder, image.pixels.data())) {
        throw ImageError(path + ": " + decoder.message);
    }
    return image;
}

}  // namespace hk::pictures
