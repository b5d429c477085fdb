// What a launch executed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace software_cuda {

enum class InstructionClass : uint8_t {
    kMultiplyAdd,  // fma and mad of floats, dp4a
    kTensor,       // mma
    kFloat,        // other arithmetic of floats
    kInteger,
    kDivision,  // div and rem of integers, div, rcp and sqrt of floats
    kConversion,
    kCompare,  // setp and selp
    kMove,     // mov, cvta, ld.param
    kBranch,
    kBarrier,
    kGlobalLoad,
    kGlobalStore,
    kSharedLoad,
    kSharedStore,
    kAtomic,
    kWarp,  // shfl, vote, redux
    kCount
};
const char *class_name(InstructionClass c);

struct MemoryCounts {
    uint64_t requests = 0;  // of warps
    uint64_t bytes = 0;     // asked for by threads
    uint64_t moved = 0;     // shared: wavefronts; global: sectors of 32 bytes
    uint64_t least = 0;     // the fewest that the bytes asked for need
    uint64_t distinct = 0;  // global: sectors that are not the same, of a launch
    // Global: sectors that blocks ask the second cache for. The first one may keep what a block
    // loads, each sector once; copies by cp.async.cg, stores and atomic operations pass it.
    uint64_t second_cache = 0;
};

// How often a basic block of a program was entered, by warps and by threads, and how often the
// threads of a warp parted at its end.
struct BlockCounts {
    uint64_t warps = 0, lanes = 0, splits = 0;

    void add(const BlockCounts &other) {
        warps += other.warps;
        lanes += other.lanes;
        splits += other.splits;
    }
};

struct Counts {
    std::array<uint64_t, static_cast<std::size_t>(InstructionClass::kCount)> thread_instructions{};
    std::array<uint64_t, static_cast<std::size_t>(InstructionClass::kCount)> warp_instructions{};
    uint64_t branches = 0, divergent_branches = 0;  // of warps
    uint64_t barriers = 0;                          // of blocks
    uint64_t blocks = 0, threads = 0;
    // Only where Settings::count is set.
    MemoryCounts global_loads, global_stores, shared_loads, shared_stores;
    std::map<uint32_t, uint64_t> lines;  // of the module: threads that came to it
    double seconds = 0;                  // on the host

    uint64_t all_thread_instructions() const;
    void add(const Counts &other);
};

}  // namespace software_cuda
