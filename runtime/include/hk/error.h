#pragma once
// Errors of the library. Every failure is an exception; no call aborts the process, and a call that
// throws leaves all its inputs as they were. Messages name the operation and both values that do
// not fit: "conv2d: weight has 64 input channels, input has 128". std::bad_alloc comes only from
// functions that make no more than a text, a shape or a list, and from what copies a Tensor or a
// Shape on its own, as passing one by value does.

#include <stdexcept>
#include <string>

namespace hk {

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The arguments can't be right. Thrown before anything runs.
struct InvalidArgument : Error {
    using Error::Error;
};

// The host or a device has no memory left for what was asked.
struct OutOfMemory : Error {
    using Error::Error;
};

// The device is missing, its driver failed, or it has no code in this library.
struct DeviceError : Error {
    using Error::Error;
};

// A kernel reported an error while it ran. The output's content is undefined.
struct KernelFailure : Error {
    using Error::Error;
};

}  // namespace hk
