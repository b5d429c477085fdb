#pragma once
// Runs a workload on an allocator: once with everything checked, then for the time.

#include "allocators.h"
#include "workload.h"

namespace hk::replay {

struct Memory {
    size_t peak_in_use = 0, peak_reserved = 0;
    double reserved_to_in_use = 0;  // on average over the operations since the live set's peak
    double fragmentation = 0;       // the same
    std::string fault;              // empty: no block overlapped another, and none lost a byte
};

// Every block is filled with a pattern of its own, which is looked at when it is freed; and the
// range of its addresses must be nobody else's.
Memory check(const Workload &workload, Allocator &allocator);

// Nanoseconds a pair of allocate and free: the least of `rounds` runs. With `touch` a byte of each
// page of a block is written, as who uses the memory does.
double time_pairs(const Workload &workload, Allocator &allocator, int rounds, bool touch);

// Nanoseconds of a call that cached memory serves: the least of many rounds of 64 blocks of a size.
struct Hit {
    double allocate = 0, free = 0;
};
Hit time_hit(Allocator &allocator, size_t bytes);

}  // namespace hk::replay
