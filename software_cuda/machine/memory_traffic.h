// What memory does for the accesses of a warp: NVIDIA's CUDA C++ Best Practices Guide, "Coalesced
// Access to Global Memory" and "Shared Memory and Memory Banks".
#pragma once

#include "software_cuda/machine/block_state.h"

namespace software_cuda {

// Global memory: sectors of 32 bytes. Shared memory: wavefronts, in each of which each of 32 banks
// gives one word of 4 bytes; a warp's accesses of 8 bytes are done by halves, of 16 by quarters.
// Lanes that access the same bytes count once.
void count_traffic(BlockState &block, const Access &access, MemoryCounts &counts);

}  // namespace software_cuda
