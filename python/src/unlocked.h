#pragma once
// Around calls of the library, which may run long: without the interpreter's lock, and not while a
// process is forked.

#include <Python.h>

namespace hk::python {

// A child may call the library if no other thread was in a call of it at the fork (hk/device.h):
// os.fork() waits for those that are, and others wait for it.
class Calling {
public:
    Calling();
    Calling(const Calling &) = delete;
    ~Calling();
};

void wait_at_forks();  // from here on

// Releases the interpreter's lock for as long as it lives.
class Unlocked {
public:
    Unlocked() : state_(PyEval_SaveThread()) {}
    Unlocked(const Unlocked &) = delete;
    ~Unlocked();

private:
    PyThreadState *state_;
};

}  // namespace hk::python
