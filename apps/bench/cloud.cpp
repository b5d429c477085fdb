#include "cloud.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace hk::bench {

namespace {

// A wavy sheet, one voxel thick, with holes.
Tensor made_up_cloud(int64_t voxels) {
    const auto side = static_cast<int32_t>(std::sqrt(static_cast<double>(voxels) / 0.66));
    std::mt19937 random(1);
    std::vector<int32_t> values;
    for (int32_t x = 0; x < side; ++x) {
        for (int32_t y = 0; y < side; ++y) {
            if (random() % 100 >= 66) continue;
            const double z = 20 * std::sin(x / 40.0) * std::cos(y / 50.0);
            values.insert(values.end(), {0, x, y, static_cast<int32_t>(std::lround(z))});
        }
    }
    Tensor tensor({std::ssize(values) / 4, 4}, DataType::s32);
    std::copy(values.begin(), values.end(), tensor.data<int32_t>());
    return tensor;
}

}  // namespace

std::string CloudShape::name() const {
    const std::string k = std::to_string(kernel);
    return k + "x" + k + "x" + k + (submanifold() ? "" : "_s" + std::to_string(stride));
}

const Tensor &cloud_of(int64_t voxels) {
    static std::map<int64_t, Tensor> kept;
    Tensor &cloud = kept[voxels];
    if (!cloud.defined()) cloud = made_up_cloud(voxels);
    return cloud;
}

KernelMap map_of(const Tensor &coordinates, const CloudShape &shape) {
    const auto [voxels, k, s] = shape;
    const KernelMapOptions options{{k, k, k}, {s, s, s}};
    return shape.submanifold() ? submanifold_map(coordinates, options)
                               : strided_map(coordinates, options);
}

std::string words(const KernelMap &map) {
    return std::to_string(map.input_rows) + " to " + std::to_string(map.output_rows) + " voxels, " +
           std::to_string(map.pairs()) + " pairs over " + std::to_string(map.offsets) + " offsets";
}

}  // namespace hk::bench
