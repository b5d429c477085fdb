#pragma once
// The one observer of all pools: it tells the traces that are recorded, and HK_LOG=memory.
//
// Locks are taken in this order: a pool's, the watch's.

#include "hk/memory_trace.h"

namespace hk::detail {

// Begins and ends to tell a recorder. Where it begins, blocks that are in use are told too.
void begin_recording(MemoryTrace::Recorder &recorder);
void end_recording(MemoryTrace::Recorder &recorder) noexcept;

// What was recorded so far.
std::string recorded(const MemoryTrace::Recorder &recorder);

// Reads HK_LOG and HK_MEMORY_TRACE, when the first pool is made.
void watch_as_environment_says() noexcept;

// "hk memory: cpu: 12 allocations, 10 of them from cached memory; …", a line for each pool that was
// used and one for each label whose blocks are in use.
std::string memory_report();

}  // namespace hk::detail
