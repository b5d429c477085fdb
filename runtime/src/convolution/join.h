#pragma once
// Dimensions of views that are one.

#include <span>

#include "kernel_buffer.h"

namespace hk::detail {

// Joins `outer` into `inner` in every view where that is possible in all of them; what is left of
// it has a stride of 0.
void join(std::span<BufferView *const> views, size_t inner, size_t outer);

}  // namespace hk::detail
