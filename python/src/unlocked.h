#pragma once
// Releases the interpreter's lock for as long as it lives.

#include <Python.h>
#include <unistd.h>

namespace hk::python {

class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    Unlocked(const Unlocked &) = delete;

    // When the interpreter has ended meanwhile, Python before 3.14 ends the thread by unwinding its
    // stack, which no noexcept function lets pass. It waits for the end of the process instead, as
    // in Python 3.14.
    ~Unlocked() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;) pause();
        }
    }

private:
    PyThreadState *state_;
};

}  // namespace hk::python
