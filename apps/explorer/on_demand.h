#pragma once
// The library's tables without its kernels: each kernel is compiled, by its generator and through
// the compile cache, when a problem first takes it.

#include <vector>

#include "hk/kernel_info.h"

namespace hk::explorer {

// What KernelInfo::load is for. Throws std::runtime_error with what the generator or the linker
// says. One thread at a time.
void load(const KernelInfo &row);

// All of these, compiled side by side. Those that fail are left as they are.
void load_all(const std::vector<const KernelInfo *> &rows);

}  // namespace hk::explorer
