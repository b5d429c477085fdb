#include "unlocked.h"

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <shared_mutex>

namespace hk::python {

namespace {

namespace nb = nanobind;
using namespace nb::literals;

// Shared by calls, exclusive to the thread that forks. Never destroyed: threads may call until the
// process is gone.
using Gate = std::shared_timed_mutex;
Gate &gate() {
    static Gate &instance = *new Gate;
    return instance;
}

bool closed = false;  // by the thread that forks, which has the interpreter's lock

// A call that waits for the interpreter's lock, which this thread has, does not end; rather than
// for ever this waits for longer than kernels take.
void before_fork() { closed = gate().try_lock_for(std::chrono::seconds(30)); }

void after_fork_in_parent() {
    if (closed) gate().unlock();
}

// Of the threads that waited only the parent has any.
void after_fork_in_child() { new (&gate()) Gate; }

}  // namespace

Calling::Calling() { gate().lock_shared(); }
Calling::~Calling() { gate().unlock_shared(); }

void wait_at_forks() {
    nb::module_::import_("os").attr("register_at_fork")(
        "before"_a = nb::cpp_function(before_fork),
        "after_in_parent"_a = nb::cpp_function(after_fork_in_parent),
        "after_in_child"_a = nb::cpp_function(after_fork_in_child));
}

// When the interpreter has ended meanwhile, Python before 3.14 ends the thread by unwinding its
// stack, which no noexcept function lets pass. It waits for the end of the process instead, as in
// Python 3.14.
Unlocked::~Unlocked() {
    try {
        PyEval_RestoreThread(state_);
    } catch (...) {
        for (;;) pause();
    }
}

}  // namespace hk::python
