#pragma once
// Transposed copies of elements of 4 bytes by vectors of 64.

#include "transposed_copy.h"

namespace hk::detail {

// Whether this CPU has the vectors, and the process may use them.
bool has_wide_vectors() noexcept;

void copy_transposed_words(const Transposition &transposition, char *to, const char *from);

}  // namespace hk::detail
