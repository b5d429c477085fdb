#pragma once
// Registers of matrices (Intel's AMX): Linux keeps them from a process that has not asked for them.

namespace hk::detail {

// Whether kernels may use them here. Asks the system the first time, where the library has such
// kernels; what it grants holds for all threads. From then on it refuses alternate signal stacks
// that are too small for them, and where a thread has one already it refuses this.
bool has_tile_registers() noexcept;

}  // namespace hk::detail
