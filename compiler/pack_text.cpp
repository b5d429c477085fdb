#include "compiler/pack_text.h"

#include <lz4hc.h>

#include <stdexcept>

#include "runtime/src/packed_text.h"

namespace hk::compiler {

namespace {

void put_number(std::string &out, int number) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 255);
}

}  // namespace

std::string pack_text(const std::string &text) {
    if (text.size() > LZ4_MAX_INPUT_SIZE) throw std::length_error("a program of over 2 GB");
    const int size = static_cast<int>(text.size());
    std::string block(static_cast<size_t>(LZ4_compressBound(size)), '\0');
    const int packed = LZ4_compress_HC(text.data(), block.data(), size,
                                       static_cast<int>(block.size()), LZ4HC_CLEVEL_MAX);
    if (packed <= 0) throw std::runtime_error("LZ4 can't compress a program");
    block.resize(static_cast<size_t>(packed));
    std::string result(detail::kPackedMark, sizeof detail::kPackedMark);
    put_number(result, size);
    put_number(result, packed);
    return result + block;
}

}  // namespace hk::compiler
