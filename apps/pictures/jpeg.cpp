#include "jpeg.h"

#include <csetjmp>
#include <cstddef>

#include <jpeglib.h>

#include <jerror.h>

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

// libjpeg only warns of what is cut off or corrupt, and makes the pixels up. The warnings that are
// left cost no pixels.
void refuse_warnings(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM &&
        code != JWRN_JFIF_MAJOR) {
        fail(jpeg);
    }
}

bool read_header(Decoder &decoder, std::FILE *file) {
    decoder.jpeg.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = fail;
    decoder.errors.output_message = keep_silent;
    decoder.errors.emit_message = refuse_warnings;
    if (setjmp(decoder.failed)) {
        return false;
    }
    jpeg_create_decompress(&decoder.jpeg);
    jpeg_stdio_src(&decoder.jpeg, file);
    jpeg_read_header(&decoder.jpeg, TRUE);
    decoder.jpeg.out_color_space = JCS_RGB;
    return true;
}

// A progressive picture is read here, and all its coefficients allocated.
bool start(Decoder &decoder) {
    if (setjmp(decoder.failed)) {
        return false;
    }
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
    const auto expect = [&](bool right) {
        if (!right) throw ImageError(path + ": " + decoder.message);
    };
    expect(read_header(decoder, file));
    check_size(path, decoder.jpeg.image_width, decoder.jpeg.image_height);
    expect(start(decoder));
    Image image(static_cast<int>(decoder.jpeg.output_width),
                static_cast<int>(decoder.jpeg.output_height));
    expect(read_pixels(decoder, image.pixels.data()));
    return image;
}

}  // namespace hk::pictures
