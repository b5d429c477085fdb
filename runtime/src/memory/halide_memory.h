#pragma once
// The drivers' allocation functions as Halide's runtime gets them: memory that kernels need for
// themselves comes from the pool of the call's device and context, for the call's queue.

#include "call_context.h"

namespace hk::detail {

// Halide's runtime asks for a context before it allocates or frees, on the same thread; its
// allocation functions are not told the call. Null: no call.
void set_allocating_call(const CallContext *call) noexcept;

// What stands in for a driver's function of that name; null: nothing does.
void *cuda_memory_function(const char *name) noexcept;
void *opencl_memory_function(const char *name) noexcept;

}  // namespace hk::detail
