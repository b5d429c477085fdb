#pragma once
// CUDA's driver, through functions that are looked up at run time: no header or library of CUDA is
// needed to build.

#include "backend.h"
#include "dynamic_library.h"

namespace hk::detail {

// The driver's function of that name; null where there is no driver. Halide's runtime asks here
// too.
void *cuda_symbol(const char *name) noexcept;

// Puts a stand-in in the driver's place. Only before the first use of CUDA.
void set_cuda_driver(SymbolLookup lookup) noexcept;

Backend &cuda_backend() noexcept;

// The handles of a call, for Halide's hooks: the primary context where none was given. Return a
// CUresult.
int cuda_context(int index, void **context);

}  // namespace hk::detail
