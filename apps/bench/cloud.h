#pragma once
// A cloud of voxels, and the maps of a sparse convolution over it.

#include "hk/tensor.h"

namespace hk::bench {

// The rows of each offset are reached at most once, upwards: imap and omap [pairs], starts
// [offsets + 1], all s32 in host memory.
struct CloudMaps {
    int64_t input_rows = 0, output_rows = 0;
    Tensor imap, omap, starts;

    int64_t offsets() const { return starts.shape()[0] - 1; }
    int64_t pairs() const { return imap.shape()[0]; }
};

// About so many voxels, each with 6.3 neighbours within one step, itself among them.
Tensor cloud(int64_t voxels);  // s32 [voxels, 3]

// Of a cubic kernel. Stride 1: the output's voxels are the input's; otherwise those that any of
// the input's reaches.
CloudMaps cloud_maps(const Tensor &cloud, int64_t kernel, int64_t stride);

}  // namespace hk::bench
