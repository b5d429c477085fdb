// Fat binaries as the fatbinary tool writes them: a header, and images of which one of kind 1 is
// PTX.
#include <lz4.h>

#include <cstring>
#include <limits>

#include "software_cuda/ptx/module.h"

namespace software_cuda {

namespace {

constexpr uint32_t kFatBinary = 0xba55ed50, kFatBinaryWrapper = 0x466243b1, kElf = 0x464c457f;

struct Header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};

struct ImageHeader {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t packed_bytes, reserved;
    uint16_t minor, major;
    uint32_t target;
    uint32_t name_offset, name_bytes;
    uint64_t flags;
    uint64_t reserved2;
    uint64_t unpacked_bytes;
};
static_assert(sizeof(Header) == 16 && sizeof(ImageHeader) == 64);

constexpr uint16_t kPtx = 1;
constexpr uint64_t kLz4 = 0x2000, kOtherCompression = 0x9000;
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

template<typename T>
T value_at(const uint8_t *p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

[[noreturn]] void fail(const char *what) {
    throw ModuleError(ModuleError::kInvalidImage, std::string("fat binary ") + what);
}

std::string unpacked(const uint8_t *from, const ImageHeader &image) {
    if (image.unpacked_bytes > kMostBytes || image.packed_bytes > image.bytes)
        fail("with sizes that can't be");
    std::string text(image.unpacked_bytes, '\0');
    const int bytes =
        LZ4_decompress_safe(reinterpret_cast<const char *>(from), text.data(),
                            static_cast<int>(image.packed_bytes), static_cast<int>(text.size()));
    if (bytes < 0) fail("whose PTX can't be unpacked");
    text.resize(static_cast<size_t>(bytes));
    return text;
}

std::string ptx_of_fat_binary(const uint8_t *at) {
    const auto header = value_at<Header>(at);
    if (header.header_bytes < sizeof header || header.bytes > kMostBytes)
        fail("with sizes that can't be");
    at += header.header_bytes;
    for (uint64_t left = header.bytes; left >= sizeof(ImageHeader);) {
        const auto image = value_at<ImageHeader>(at);
        if (image.header_bytes < sizeof image || image.header_bytes > left ||
            image.bytes > left - image.header_bytes) {
            fail("with sizes that can't be");
        }
        const uint8_t *const content = at + image.header_bytes;
        if (image.kind == kPtx) {
            if (image.flags & kOtherCompression) fail("of an unknown compression");
            std::string text =
                image.flags & kLz4
                    ? unpacked(content, image)
                    : std::string(reinterpret_cast<const char *>(content), image.bytes);
            text.resize(std::strlen(text.c_str()));  // padding
            return text;
        }
        at += image.header_bytes + image.bytes;
        left -= image.header_bytes + image.bytes;
    }
    fail("without PTX");
}

}  // namespace

std::string ptx_of_image(const void *image) {
    // A text may be shorter than a magic number.
    const auto *bytes = static_cast<const uint8_t *>(image);
    if (strnlen(static_cast<const char *>(image), sizeof(uint32_t)) < sizeof(uint32_t)) {
        throw ModuleError(ModuleError::kInvalidImage,
                          "an image that is neither PTX nor a fat binary");
    }
    switch (value_at<uint32_t>(bytes)) {
        case kFatBinary:
            return ptx_of_fat_binary(bytes);
        case kFatBinaryWrapper:
            return ptx_of_image(value_at<const void *>(bytes + 8));
        case kElf:
            throw ModuleError(ModuleError::kInvalidImage, "a cubin: the device executes PTX only");
        default:
            return static_cast<const char *>(image);
    }
}

}  // namespace software_cuda
