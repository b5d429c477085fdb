#pragma once
// The one observer of all pools: it tells the traces that are recorded, and HK_LOG=memory.
//
// Locks are taken in this order: a pool's, the watch's.

#include "hk/memory_trace.h"

namespace hk::detail {

// Starts and stops recording. At the start, live blocks are reported first; where that throws,
// nothing is recorded.
void begin_recording(MemoryTrace::Recorder &recorder);
void end_recording(MemoryTrace::Recorder &recorder) noexcept;

// What was recorded so far.
std::string recorded(const MemoryTrace::Recorder &recorder);

// The watch reads HK_LOG and HK_MEMORY_TRACE when the process starts. Pools refer to this, which
// keeps the object in static links.
void force_link_watch() noexcept;

// "hk memory: cpu: 12 allocations, 10 of them from cached memory; …", a line for each pool that was
// used and one for each label whose blocks are in use.
std::string memory_report();

}  // namespace hk::detail
