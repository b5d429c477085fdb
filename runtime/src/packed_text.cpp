#include "packed_text.h"

#include <cstring>

namespace hk::detail {

namespace {

uint32_t number_at(const char *data) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(data);
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

// The bytes of a block, which says false where it ends too early.
struct Reader {
    const unsigned char *at, *end;

    bool next(size_t &byte) {
        if (at == end) return false;
        byte = *at++;
        return true;
    }

    // A length of four bits, and more bytes where those are all ones.
    bool length(size_t bits, size_t &result) {
        result = bits;
        if (bits != 15) return true;
        size_t byte;
        do {
            if (!next(byte)) return false;
            result += byte;
        } while (byte == 255);
        return true;
    }
};

bool unpack(Reader reader, size_t size, std::string &text) {
    do {
        size_t token, literals, low, high, match;
        if (!reader.next(token) || !reader.length(token >> 4, literals)) return false;
        if (literals > static_cast<size_t>(reader.end - reader.at)) return false;
        text.append(reinterpret_cast<const char *>(reader.at), literals);
        reader.at += literals;
        if (reader.at == reader.end) break;
        if (!reader.next(low) || !reader.next(high)) return false;
        if (!reader.length(token & 15, match)) return false;
        const size_t distance = low | high << 8;
        if (distance == 0 || distance > text.size() || text.size() + match + 4 > size) return false;
        for (size_t i = 0; i < match + 4; i++) text += text[text.size() - distance];
    } while (text.size() < size);
    return text.size() == size && reader.at == reader.end;
}

}  // namespace

bool is_packed_text(const char *data) noexcept {
    return std::strncmp(data, kPackedMark, sizeof kPackedMark) == 0;
}

std::optional<std::string> unpack_text(const char *data) {
    const size_t size = number_at(data + 4), packed = number_at(data + 8);
    const auto *start = reinterpret_cast<const unsigned char *>(data) + kPackedHeader;
    std::string text;
    text.reserve(size);
    if (!unpack({start, start + packed}, size, text)) return std::nullopt;
    return text;
}

}  // namespace hk::detail
