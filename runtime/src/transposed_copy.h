#pragma once
// Copies whose elements are neighbours along one dimension of the target and along another of the
// source, as those between nhwc and nchw are.

#include <cstdint>

namespace hk::detail {

// Of `rows` by `columns` elements of 1, 2, 4 or 8 bytes: element (row, column) is at column * size
// + row * to_pitch of the target, at row * size + column * from_pitch of the source. Pitches in
// bytes.
struct Transposition {
    int64_t size, rows, columns, to_pitch, from_pitch;
};

void copy_transposed(const Transposition &transposition, char *to, const char *from);

}  // namespace hk::detail
