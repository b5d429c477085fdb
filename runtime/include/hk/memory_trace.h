#pragma once
// What the library's memory (hk/memory.h) does, and who holds it.
//
//   hk::MemoryTrace trace;
//   for (int step = 0; step < 10; step++) {
//       hk::memory_mark("step " + std::to_string(step));
//       {
//           hk::MemoryLabel label("forward");
//           …
//       }
//   }
//   std::ofstream("trace.json") << trace.json();     // apps/memory/draw_trace.py draws it
//
// Without a line of code:
//   HK_MEMORY_TRACE=FILE   the trace of the whole process is written to the file when it ends; a %p
//                          in the name becomes the process's number
//   HK_LOG=memory          stderr tells what pools take from the system or driver and give back,
//                          and when a process ends what each pool did, and what was never freed
//
// Thread safety: everything here may be called from any thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace hk {

// A mark in all traces that are recorded now: a step, an epoch. Marks and labels are UTF-8; what is
// not becomes U+FFFD in what is reported as JSON.
void memory_mark(std::string_view text);

// Records what all pools do from here until this object goes. An event takes 40 bytes of memory
// that is none of the pools'. Where that memory ends, recording does ("complete"); the constructor
// and json() throw OutOfMemory.
class MemoryTrace {
public:
    // After so many events nothing more is recorded, and the trace says so.
    static constexpr size_t kMostEvents = size_t{1} << 22;

    explicit MemoryTrace(size_t most_events = kMostEvents);
    ~MemoryTrace();
    MemoryTrace(const MemoryTrace &) = delete;
    MemoryTrace &operator=(const MemoryTrace &) = delete;

    // What was recorded so far:
    //   "pools", "labels", "marks"   names; of events by their place here. Label 0: none
    //   "reserved"                   bytes of each pool when recording began
    //   "complete"                   false where there were too many events
    //   "events"                     in their order, by the number in the second place:
    //      [us, 0, pool, block, asked, given, label]   a block was handed out, of `given` bytes;
    //                                                  blocks of before are handed out at 0 us
    //      [us, 1, pool, block]                        freed
    //      [us, 2, pool, bytes, reserved]              taken from the system or driver
    //      [us, 3, pool, bytes, reserved]              given back
    //      [us, 4, pool, asked]                        there was no memory: cached memory went back
    //      [us, 5, pool, asked]                        and that did not help
    //      [us, 6, mark]
    std::string json() const;

    class Recorder;

private:
    std::unique_ptr<Recorder> recorder_;
};

// What is now, as JSON: of each pool its name, its statistics, and its blocks in use by label, the
// largest share first: {"pools": [{"name": "cpu", "statistics": {"in_use": …, …},
//   "in_use": [{"label": "forward", "blocks": 2, "requested": …, "bytes": …}, …]}]}
// Throws OutOfMemory.
std::string memory_snapshot();

}  // namespace hk
