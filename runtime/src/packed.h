#pragma once
// Device code is stored packed: Halide writes 200 KB of text for one OpenCL kernel, and a fatbin
// has a kernel three times. This undoes what compiler/pack.h does. The data is a frame of Zstandard
// behind a header:
//
//   4 bytes kPackedMark, 4 bytes size of the code, 4 bytes size of the frame, the frame
//
// Sizes are little endian.

#include <cstdint>
#include <optional>
#include <string>

namespace hk::detail {

constexpr char kPackedMark[4] = {'\x1b', 'h', 'k', 'z'};  // no program or fatbin starts so
constexpr size_t kPackedHeader = 12;

bool is_packed(const char *data) noexcept;

// Nothing where the data is damaged.
std::optional<std::string> unpack(const char *data);

}  // namespace hk::detail
