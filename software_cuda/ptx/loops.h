// Loops of a program.
#pragma once

#include <cstdint>
#include <vector>

#include "software_cuda/ptx/program.h"

namespace software_cuda {

// A natural loop: the blocks from which one that jumps back to `header` is reached without passing
// the header, which dominates them. Jumps to one header are of one loop.
struct Loop {
    uint32_t header;
    std::vector<uint32_t> own, inner;  // its blocks, ascending; inner: in loops inside it
};

// In the order of their headers.
std::vector<Loop> loops_of(const Program &program);

}  // namespace software_cuda
