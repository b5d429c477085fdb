#pragma once
// One call of a kernel, and what it reports as an exception.

#include "call_context.h"
#include "hk/kernel_info.h"

namespace hk::detail {

// Calls the kernel with its arguments, the first of which this sets: the kernel's user_context.
// Throws OutOfMemory, DeviceError or KernelFailure.
void call_kernel(const char *operation, const KernelInfo &kernel, CallContext &context,
                 void **arguments);

// The exception for a status of Halide's and the message that came with it.
[[noreturn]] void throw_failure(const char *operation, const KernelInfo &kernel, Device device,
                                int status, std::string_view message);

}  // namespace hk::detail
