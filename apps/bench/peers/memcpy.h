#pragma once
// What kernels that are bound by memory are compared with.

#include "family.h"

namespace hk::bench {

// On a CPU: copies half of `bytes`, so that it reads and writes as many together.
std::vector<Contestant> memcpy_of(double bytes, const Settings &settings);

std::vector<PeerLibrary> memcpy_library(const Settings &settings);

}  // namespace hk::bench
