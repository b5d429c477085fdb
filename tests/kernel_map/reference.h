#pragma once
// Kernel maps by their definition: a search for each offset and each output row.

#include <array>
#include <vector>

#include "hk/kernel_map.h"

namespace hk::reference {

using Voxel = std::array<int64_t, 4>;  // batch, x, y, z
using Voxels = std::vector<Voxel>;

struct KernelMapResult {
    Voxels outputs;
    std::vector<int32_t> imap, omap;
    std::vector<int64_t> starts;
};

KernelMapResult kernel_map(const Voxels &inputs, const KernelMapOptions &options, bool strided);

}  // namespace hk::reference
