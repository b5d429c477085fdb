#pragma once
// Pairs of rows by merging sorted keys: those of the output, moved by an offset, with the input's.
// Offsets that differ in z alone and by 1 are a run and found in one pass. Where outputs and inputs
// are the same rows and the kernel is symmetric, an offset's pairs are those of its opposite
// swapped, and half the offsets are enough. Of many runs pairs are found in cells
// (kernel_map/cells.h).

#include "kernel_map/cloud.h"

namespace hk::detail {

struct PairsRequest {
    const Cloud &cloud;  // the input
    const KernelMapOptions &options;
    const Array<int64_t> *keys;  // of the output; null: its rows are the input's
};

// The number of voxels that an index along an axis leads to.
inline int64_t offset_at(int64_t kernel_size, int64_t index) {
    return kernel_size % 2 == 1 ? index - kernel_size / 2 : index;
}

// Fills imap, omap, starts and offsets.
void find_pairs(const PairsRequest &request, KernelMap &map);

}  // namespace hk::detail
