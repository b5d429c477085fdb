#pragma once
// Transposed copies of elements of 4 bytes by vectors of 32, blocks of 8 by 8.

#include "transposed_copy.h"

namespace hk::detail {

// Whether this CPU has the vectors, the process may use them, and the copy fills a block.
bool takes_octets(const Transposition &transposition) noexcept;

void copy_octets(const Transposition &transposition, char *to, const char *from);

}  // namespace hk::detail
