#pragma once
// Passes over blocks of an operand, each of which is copied before it is used:
//
//     for a pass: copy a block, prefetching some rows ahead; for a tile: sum over the block's rows
//
// That hides memory's latency, and the sums still wait for its speed. So that the next block is on
// its way to the second cache while this one is used, this becomes
//
//     for a pass: copy a block, as before; for a tile: sum over the rows, and with every fourth of
//     them, in turns of the tiles, prefetch what the next pass copies of it
//
// What a schedule prefetches where it copies says which operand that is. Rows are the steps of the
// copy's loops, which are those of the sum that are as long, or, where a step of the sum has
// several rows, as long as those. Behind the last block a prefetch may be of memory that is not
// there, which is no fault.

#include "Halide.h"

namespace hk::compiler {

Halide::Internal::Stmt prefetch_next_pass(const Halide::Internal::Stmt &stmt);

}  // namespace hk::compiler
