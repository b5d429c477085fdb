#pragma once
// Threads on cores of their own. Where a woken thread runs is the kernel's choice; some put it
// beside the one that woke it, and two threads are then as slow as one.

#include <sched.h>

namespace hk::bench {

// The calling thread stays on one core, the last that this process may use: interrupts and other
// programs prefer the first. False where the system refuses.
bool stay_on_last_core();

// While it lives the calling thread stays on the first core that this process may use. All others
// of the process stay on the next ones for good, in turn as they were started: a pool of
// `threads`, of whatever library, has each on its own. Nothing is placed where `threads` is 1 or
// more than there are cores.
class OneThreadPerCore {
public:
    explicit OneThreadPerCore(int threads);
    ~OneThreadPerCore();
    OneThreadPerCore(const OneThreadPerCore &) = delete;
    OneThreadPerCore &operator=(const OneThreadPerCore &) = delete;

private:
    cpu_set_t before_;
    bool changed_ = false;
};

}  // namespace hk::bench
