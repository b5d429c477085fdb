#pragma once
// What a schedule prefetches is put into the second cache. Halide's instruction (prefetchnta on
// x86) leaves it in the first alone, where it is gone before a loop of more than that cache holds
// comes to it.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt prefetch_to_second_cache(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
