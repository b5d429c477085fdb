// A program of another project: a sparse convolution over the surface of a ball, and one that
// halves its resolution, held against sums over neighbours that are looked up one by one.

#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "../random.h"
#include "hk/error.h"
#include "hk/kernel_map.h"
#include "hk/tensor_product.h"

namespace {

using hk::DataType, hk::Tensor;

constexpr int64_t kChannels = 16, kFilters = 24;

using Voxel = std::array<int32_t, 4>;  // batch, x, y, z

std::vector<Voxel> ball(int32_t radius) {
    std::vector<Voxel> voxels;
    for (int32_t x = -radius; x <= radius; x++) {
        for (int32_t y = -radius; y <= radius; y++) {
            for (int32_t z = -radius; z <= radius; z++) {
                const double from_middle = std::sqrt(x * x + y * y + z * z);
                if (std::abs(from_middle - radius + 1) < 0.5) voxels.push_back({0, x, y, z});
            }
        }
    }
    return voxels;
}

// Whether every output is the sum over the voxels at `stride` times its own plus the offset.
bool is_right(std::vector<Voxel> voxels, const hk::KernelMapOptions &options) {
    const auto rows = static_cast<int64_t>(voxels.size());
    const Tensor coordinates = Tensor::borrow(voxels.data(), DataType::s32, {rows, 4});
    const int64_t size = options.kernel_size[0], stride = options.stride[0];
    const hk::KernelMap map = stride == 1 ? hk::submanifold_map(coordinates, options)
                                          : hk::strided_map(coordinates, options);
    const Tensor input = random({rows, kChannels}, 1);
    const Tensor weight = random({map.offsets, kChannels, kFilters}, 2);
    const Tensor output({map.output_rows, kFilters}, DataType::f32);
    hk::tensor_product(input, weight, hk::TensorProductMaps(map), output);

    std::map<Voxel, int64_t> places;
    for (int64_t row = 0; row < rows; row++) places[voxels[static_cast<size_t>(row)]] = row;
    const auto *at = map.coordinates.data<int32_t>();
    const int64_t least = size % 2 == 0 ? 0 : -(size / 2);
    for (int64_t o = 0; o < map.output_rows; o++, at += 4) {
        std::vector<double> sums(kFilters);
        for (int64_t n = 0; n < map.offsets; n++) {
            const auto along = [&](int axis, int64_t step) {
                return static_cast<int32_t>(at[axis] * stride + least + step % size);
            };
            const auto found =
                places.find({at[0], along(1, n / size / size), along(2, n / size), along(3, n)});
            if (found == places.end()) continue;
            for (int64_t c = 0; c < kChannels; c++) {
                const double factor = input.data<float>()[found->second * kChannels + c];
                const float *row = weight.data<float>() + (n * kChannels + c) * kFilters;
                for (size_t m = 0; m < sums.size(); m++) sums[m] += factor * row[m];
            }
        }
        for (size_t m = 0; m < sums.size(); m++) {
            const double value = output.data<float>()[o * kFilters + static_cast<int64_t>(m)];
            if (!(std::abs(value - sums[m]) < 1e-3)) return false;
        }
    }
    std::printf("%d to %d voxels, %d pairs: right\n", static_cast<int>(rows),
                static_cast<int>(map.output_rows), static_cast<int>(map.pairs()));
    return true;
}

}  // namespace

int main() {
    const std::vector<Voxel> voxels = ball(12);
    if (!is_right(voxels, {}) || !is_right(voxels, {{2, 2, 2}, {2, 2, 2}})) return 1;
    try {
        Tensor map({1, 1}, DataType::s32);
        map.data<int32_t>()[0] = 7;
        hk::tensor_product(random({5, 3}, 1), random({1, 3, 4}, 2), map, map, random({5, 4}, 3));
    } catch (const hk::InvalidArgument &error) {
        std::printf("refused: %s\n", error.what());
        return 0;
    }
    return 1;
}
