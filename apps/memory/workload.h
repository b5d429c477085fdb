#pragma once
// Sequences of allocations and frees, recorded or made up.

#include <cstdint>
#include <string>
#include <vector>

namespace hk::replay {

// Allocates `bytes` into a slot that is empty, or frees what is in it.
struct Operation {
    uint32_t slot;
    bool allocates;
    size_t bytes;  // of both
};

struct Workload {
    std::string name;
    std::vector<Operation> operations;
    uint32_t slots = 0;
    size_t live_peak = 0;  // bytes asked for, at most at one time

    int64_t allocations() const;
};

// Of each pool in the trace that allocates. The file is JSON as hk::MemoryTrace writes it, or that
// through gzip. Throws std::runtime_error with the file's name where it is not.
std::vector<Workload> read_trace(const std::string &path);

// Sizes from 64 bytes to 4 MB, any power of two as likely as any other, that live shortly, long or
// as long as what was allocated before them: about `live` blocks at a time.
Workload random_mix(uint64_t seed, int allocations, int live);

}  // namespace hk::replay
