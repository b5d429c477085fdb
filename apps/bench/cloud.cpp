#include "cloud.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <unordered_map>
#include <vector>

namespace hk::bench {

namespace {

using Voxel = std::array<int32_t, 3>;

int64_t key_of(int64_t x, int64_t y, int64_t z) {
    return ((x + 1) << 42) + ((y + 1) << 21) + z + 1;
}

Tensor tensor_of(const std::vector<int32_t> &values, Shape shape) {
    const Tensor tensor(std::move(shape), DataType::s32);
    std::copy(values.begin(), values.end(), tensor.data<int32_t>());
    return tensor;
}

}  // namespace

Tensor cloud(int64_t voxels) {
    const auto side = static_cast<int32_t>(std::sqrt(static_cast<double>(voxels) / 0.66));
    std::mt19937 random(1);
    std::vector<int32_t> values;
    for (int32_t x = 0; x < side; ++x) {
        for (int32_t y = 0; y < side; ++y) {
            if (random() % 100 >= 66) continue;
            const double z = 20 * std::sin(x / 40.0) * std::cos(y / 50.0);
            values.insert(values.end(), {x, y, static_cast<int32_t>(std::lround(z + 30))});
        }
    }
    const auto count = static_cast<int64_t>(values.size() / 3);
    return tensor_of(values, {count, 3});
}

CloudMaps cloud_maps(const Tensor &cloud, int64_t kernel, int64_t stride) {
    CloudMaps maps;
    const auto *voxels = reinterpret_cast<const Voxel *>(cloud.data<int32_t>());
    maps.input_rows = cloud.shape()[0];
    std::unordered_map<int64_t, int32_t> places;
    for (int64_t i = 0; i < maps.input_rows; ++i)
        places[key_of(voxels[i][0], voxels[i][1], voxels[i][2])] = static_cast<int32_t>(i);
    std::vector<Voxel> outputs(voxels, voxels + maps.input_rows);
    if (stride > 1) {
        for (Voxel &voxel : outputs) {
            for (int32_t &x : voxel) x /= static_cast<int32_t>(stride);
        }
        std::sort(outputs.begin(), outputs.end());
        outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
    }
    maps.output_rows = std::ssize(outputs);
    const int64_t least = stride > 1 ? 0 : -(kernel / 2);
    std::vector<int32_t> imap, omap, starts{0};
    for (int64_t n = 0; n < kernel * kernel * kernel; ++n) {
        const int64_t x = least + n / kernel / kernel, y = least + n / kernel % kernel,
                      z = least + n % kernel;
        for (int64_t o = 0; o < maps.output_rows; ++o) {
            const auto found =
                places.find(key_of(outputs[o][0] * stride + x, outputs[o][1] * stride + y,
                                   outputs[o][2] * stride + z));
            if (found == places.end()) continue;
            imap.push_back(found->second);
            omap.push_back(static_cast<int32_t>(o));
        }
        starts.push_back(static_cast<int32_t>(imap.size()));
    }
    maps.imap = tensor_of(imap, {std::ssize(imap)});
    maps.omap = tensor_of(omap, {std::ssize(omap)});
    maps.starts = tensor_of(starts, {std::ssize(starts)});
    return maps;
}

}  // namespace hk::bench
