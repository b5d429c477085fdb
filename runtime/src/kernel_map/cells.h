#pragma once
// Pairs of kernels of many offsets. Voxels lie in cells one step wider than the kernel reaches, and
// each output is tried with the inputs of its own cell and of the cells around it. An odd kernel
// connects all voxels of a cell, so that no more than 27 inputs are tried for each pair that there
// is: time grows with the pairs, where merging takes a pass over the rows for each few offsets.

#include "kernel_map/pairs.h"

namespace hk::detail {

// Fills imap, omap and starts, which has room.
void find_pairs_in_cells(const PairsRequest &request, KernelMap &map);

}  // namespace hk::detail
