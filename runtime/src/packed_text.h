#pragma once
// OpenCL programs are stored packed: Halide writes 200 KB of text for one kernel. This undoes what
// compiler/pack_text.h does. The data is the block format of LZ4 behind a header:
//
//   4 bytes kPackedMark, 4 bytes size of the text, 4 bytes size of the data, the data
//
// Sizes are little endian.

#include <cstdint>
#include <optional>
#include <string>

namespace hk::detail {

constexpr char kPackedMark[4] = {'\x1b', 'h', 'k', 'p'};  // no program starts so
constexpr size_t kPackedHeader = 12;

bool is_packed_text(const char *data) noexcept;

// Nothing where the data is damaged.
std::optional<std::string> unpack_text(const char *data);

}  // namespace hk::detail
