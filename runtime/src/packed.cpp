#include "packed.h"

#include <cstring>

// Zstandard's decoder, which this archive holds under names of its own (runtime/CMakeLists.txt).
extern "C" size_t hk_zstd_decompress(void *to, size_t capacity, const void *from, size_t size);

namespace hk::detail {

namespace {

uint32_t number_at(const char *data) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(data);
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

}  // namespace

bool is_packed(const char *data) noexcept {
    return std::strncmp(data, kPackedMark, sizeof kPackedMark) == 0;
}

std::optional<std::string> unpack(const char *data) {
    const size_t size = number_at(data + 4), packed = number_at(data + 8);
    std::string code(size, '\0');
    // An error is a number that is larger than any size.
    if (hk_zstd_decompress(code.data(), size, data + kPackedHeader, packed) != size)
        return std::nullopt;
    return code;
}

}  // namespace hk::detail
