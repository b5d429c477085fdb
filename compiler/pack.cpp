#include "compiler/pack.h"

#include <zstd.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "runtime/src/packed.h"

namespace hk::compiler {

namespace {

constexpr int kLevel = 19;  // higher ones gain nothing at these sizes

void put_number(std::string &out, size_t number) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift & 255);
}

}  // namespace

std::string pack(std::string_view code) {
    std::string frame(ZSTD_compressBound(code.size()), '\0');
    const size_t packed =
        ZSTD_compress(frame.data(), frame.size(), code.data(), code.size(), kLevel);
    if (ZSTD_isError(packed)) throw std::runtime_error(ZSTD_getErrorName(packed));
    if (std::max(code.size(), packed) > std::numeric_limits<uint32_t>::max())
        throw std::length_error("device code of over 4 GB");
    frame.resize(packed);
    std::string result(detail::kPackedMark, sizeof detail::kPackedMark);
    put_number(result, code.size());
    put_number(result, packed);
    return result + frame;
}

}  // namespace hk::compiler
