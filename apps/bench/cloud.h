#pragma once
// A cloud of voxels, and the maps of sparse convolutions over it.

#include "hk/kernel_map.h"

namespace hk::bench {

// A convolution's kernel and stride, in every direction, over a cloud of so many voxels.
struct CloudShape {
    int64_t voxels = 1, kernel = 3, stride = 1;

    bool submanifold() const { return stride == 1; }
    std::string name() const;  // "3x3x3", "2x2x2_s2"
    auto operator<=>(const CloudShape &) const = default;
};

// The first voxels of a real scan (apps/pointcloud/SCAN.md), thinned until a voxel has 6.3
// neighbours within one step, itself among them. s32 [voxels, 4], ascending; at most 125 thousand.
Tensor cloud_of(int64_t voxels);

KernelMap map_of(const Tensor &coordinates, const CloudShape &shape);

// "124510 to 53065 voxels, 124510 pairs over 8 offsets"
std::string words(const KernelMap &map);

}  // namespace hk::bench
