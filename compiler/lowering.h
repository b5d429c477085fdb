#pragma once
// The lowering passes that Halide lacks for our kernels. Every generator calls this last in
// generate(); a JIT-compiled test calls it on its pipeline.

#include "Halide.h"

namespace hk::compiler {

// dense_loads, masked_stores, half_as_bits, prefetch; for CPUs transposed_blocks; for GPU targets
// privatize_registers, fetch_ahead, uniform_branches, and the removal of assertions in device code and of
// atomic operations on a thread's own registers.
void add_lowering_passes(Halide::Pipeline pipeline, const Halide::Target &target);

}  // namespace hk::compiler
