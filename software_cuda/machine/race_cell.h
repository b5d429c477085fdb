// What a launch did to a byte, in 64 bits: which block and thread touched it last, in which
// interval between barriers, and what kinds of accesses there were. A state machine of constant
// size, after the idea of HiRace (arXiv 2401.04701).
#pragma once

#include <cstdint>

namespace software_cuda {

// Kinds of accesses, and what they conflict with when another thread's.
inline constexpr uint64_t kRead = 1, kWrite = 2, kAtomic = 4;
inline constexpr uint64_t conflicts_of(uint64_t kind) {
    return kind == kRead    ? kWrite | kAtomic
           : kind == kWrite ? kRead | kWrite | kAtomic
                            : kRead | kWrite;
}

// From the low end: kinds in the launch 3, kinds in the interval 3, several threads in the interval
// 1, several blocks 1, thread 10, interval 16, owner 30.
namespace race_cell {
inline constexpr unsigned kNowShift = 3, kThreadShift = 8, kIntervalShift = 18, kOwnerShift = 34;
inline constexpr uint64_t kKinds = 7, kSeveralThreads = 1 << 6, kSeveralBlocks = 1 << 7;
inline constexpr uint64_t kThreadMask = 1023, kIntervalMask = 0xffff;
inline constexpr uint32_t kBlocksShift = 20;  // an owner in global memory: launch, block
inline constexpr uint32_t kOwners = 1u << 30;

inline constexpr uint32_t thread_of(uint64_t cell) {
    return static_cast<uint32_t>(cell >> kThreadShift & kThreadMask);
}
}  // namespace race_cell

// Results of a step.
inline constexpr uint64_t kRaceInBlock = 1, kRaceBetweenBlocks = 2;

struct CellAccess {
    uint64_t owner;  // of global memory: launch << 20 | block, of shared memory a block's number
    unsigned launch_shift;  // what remains of an owner is its launch; all of it in shared memory
    uint64_t interval;      // 0: intervals are not told apart
    uint64_t kind;
    bool several;  // threads, of which one is named
};

// The cell after an access, and whether it was a race.
[[gnu::always_inline]] inline uint64_t cell_after(uint64_t cell, const CellAccess &access,
                                                  uint64_t thread, uint64_t &race) {
    using namespace race_cell;
    const uint64_t owner = cell >> kOwnerShift, conflicts = conflicts_of(access.kind);
    const bool same_launch = owner >> access.launch_shift == access.owner >> access.launch_shift;
    const bool same_block = owner == access.owner;
    const uint64_t interval = cell >> kIntervalShift & kIntervalMask;
    const bool same_interval = same_block & (interval == access.interval) & (access.interval != 0);
    const uint64_t kinds = same_launch ? cell & kKinds : 0;
    const uint64_t now = same_interval ? cell >> kNowShift & kKinds : 0;
    const uint64_t several_threads = same_interval ? cell & kSeveralThreads : 0;
    const uint64_t several_blocks = same_launch ? cell & kSeveralBlocks : 0;
    const bool other_thread = (cell >> kThreadShift & kThreadMask) != thread;
    const bool other_block = (same_launch & !same_block) | (several_blocks != 0);
    race = (((now & conflicts) != 0) & (other_thread | (several_threads != 0) | access.several)
                ? kRaceInBlock
                : 0) |
           (((kinds & conflicts) != 0) & other_block ? kRaceBetweenBlocks : 0);
    const bool several = access.several | (several_threads != 0) | (same_interval & other_thread);
    return access.owner << kOwnerShift | access.interval << kIntervalShift |
           thread << kThreadShift | (other_block ? kSeveralBlocks : 0) |
           (several ? kSeveralThreads : 0) | (now | access.kind) << kNowShift | kinds | access.kind;
}

// Whether a read of `bytes` bytes of shared memory would change nothing but the thread that is
// named: in this interval they were read only, by several threads or by this one. Most reads are
// such, and this takes few instructions for all bytes together.
[[gnu::always_inline]] inline bool was_read_before(const uint64_t *cells, uint32_t bytes,
                                                   const CellAccess &access, uint64_t thread) {
    using namespace race_cell;
    const uint64_t read =
        access.owner << kOwnerShift | access.interval << kIntervalShift | kRead << kNowShift;
    constexpr uint64_t of_launch = kKinds, of_thread = kThreadMask << kThreadShift;
    uint64_t not_several = 0, not_this = 0;
    for (uint32_t n = 0; n < bytes; n++) {
        not_several |= (cells[n] & ~(of_launch | of_thread)) ^ (read | kSeveralThreads);
        not_this |= (cells[n] & ~of_launch) ^ (read | thread << kThreadShift);
    }
    return access.interval != 0 && (not_several == 0 || not_this == 0);
}

}  // namespace software_cuda
