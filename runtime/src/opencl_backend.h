#pragma once
// OpenCL, through the loader's functions, looked up at run time: only headers are needed to build.
// A device's index counts over all devices of all platforms, in the loader's order.

#include "backend.h"
#include "dynamic_library.h"

namespace hk::detail {

// The loader's function of that name; null where there is no loader. Halide's runtime asks here
// too.
void *opencl_symbol(const char *name) noexcept;

// Puts a stand-in in the loader's place. Only before the first use of OpenCL.
void set_opencl_driver(SymbolLookup lookup) noexcept;

Backend &opencl_backend() noexcept;

// The handles of a call, for Halide's hooks: the library's own context and queue where none were
// given. Returns an OpenCL status.
int opencl_handles(int index, const Stream &stream, void **context, void **queue) noexcept;

}  // namespace hk::detail
