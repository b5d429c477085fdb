#pragma once
// Voxels and tensors of their coordinates.

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "hk/tensor.h"

namespace hk::tests {

using Voxel = std::array<int64_t, 4>;  // batch, x, y, z
using Voxels = std::vector<Voxel>;

inline Tensor tensor_of(const Voxels &voxels, DataType type = DataType::s32) {
    const auto rows = static_cast<int64_t>(voxels.size());
    const Tensor tensor({rows, 4}, type);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t a = 0; a < 4; a++) {
            const int64_t at = 4 * i + a;
            const int64_t value = voxels[static_cast<size_t>(i)][static_cast<size_t>(a)];
            if (type == DataType::s64) {
                tensor.data<int64_t>()[at] = value;
            } else {
                tensor.data<int32_t>()[at] = static_cast<int32_t>(value);
            }
        }
    }
    return tensor;
}

inline Voxels voxels_of(const Tensor &coordinates) {
    Voxels voxels(static_cast<size_t>(coordinates.shape()[0]));
    const auto *values = coordinates.data<int32_t>();
    for (Voxel &voxel : voxels) {
        for (int64_t &value : voxel) value = *values++;
    }
    return voxels;
}

// Different ones in a box around the origin, in any order.
inline Voxels random_cloud(std::mt19937 &random, int64_t count, int64_t half, int64_t batches) {
    std::set<Voxel> voxels;
    const auto any = [&](int64_t least, int64_t most) {
        return std::uniform_int_distribution<int64_t>(least, most)(random);
    };
    for (int64_t i = 0; i < count; i++) {
        voxels.insert({any(0, batches - 1), any(-half, half), any(-half, half), any(-half, half)});
    }
    Voxels shuffled(voxels.begin(), voxels.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    return shuffled;
}

}  // namespace hk::tests
