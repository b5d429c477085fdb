#pragma once
// A stand-in for CUDA's driver: device memory is host memory, launches are checked and noted but
// not run, and each function fails on demand. It records what it was asked for.
//
// Programs with it run with the library's memory pools off (HK_MEMORY_POOL), so that each block is
// an allocation of the driver's; a test may switch them on.
//
// cuda:0 allows 48 KiB of shared memory a block and no more; cuda:1 has the limits of compute
// capability 9.0; cuda:2 can be listed, but has no context to give.

#include <map>
#include <string>
#include <vector>

#include "hk/device.h"

namespace hk::tests {

inline const Device kDevice = Device::cuda(1);

struct Launch {
    void *function, *stream, *context;
    unsigned grid[3], block[3], shared_bytes;
};

// An event that was recorded on a stream, and how the queues use it.
struct EventStep {
    enum Kind { recorded, waited } kind;  // `waited`: by what is queued on the stream afterwards
    void *event, *stream, *context;

    bool operator==(const EventStep &) const = default;
};

struct Driver {
    int devices = 3;
    std::map<std::string, int> fail;    // function: the CUresult that it returns
    std::map<std::string, int> called;  // function: how often
    std::vector<Launch> launches;
    std::vector<void *> current;  // stack of contexts

    // A caller's own handles, which a test enters before it uses them.
    std::map<void *, int> contexts;    // context: index of its device
    std::map<void *, void *> streams;  // stream: context

    std::map<void *, int> opt_in;      // function: shared bytes that it asked for
    std::map<void *, void *> modules;  // module: context
    size_t allocated = 0;              // pieces of memory
    std::vector<void *> waited_for;    // streams
    std::vector<EventStep> events;     // what was done with them, in order
    bool busy = false;                 // no event passes
    size_t live_events = 0;

    // What a real driver would have refused or must not be asked for, in words. Any is a failure of
    // the test, in which whatever was asked for also fails.
    std::vector<std::string> faults;
};

Driver &driver();

void *driver_symbol(const char *name);

// What a device of the stand-in allows, in bytes a block.
struct SharedLimits {
    unsigned without_asking, opt_in;
};
SharedLimits shared_limits_of(int device);

}  // namespace hk::tests
