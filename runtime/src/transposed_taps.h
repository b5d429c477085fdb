#pragma once
// Transposed copies of nine words, the taps of a 3x3 filter, that lie next to each other on one
// side.

#include "transposed_copy.h"

namespace hk::detail {

// Whether a copy is one of these: of lines of nine columns of the target, or of nine rows of the
// source, one line right after the other.
bool is_of_taps(const Transposition &transposition) noexcept;

// For CPUs with AVX-512 (has_wide_vectors).
void copy_transposed_taps(const Transposition &transposition, char *to, const char *from);

}  // namespace hk::detail
