#include "cloud.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "pointcloud/cloud.h"

namespace hk::bench {

namespace {

// A bundle has the scan beside the program, for machines without the sources.
std::string scan() {
    namespace fs = std::filesystem;
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none);
    const fs::path beside = program.parent_path() / fs::path(HK_SCAN).filename();
    return fs::exists(beside, none) ? beside.string() : HK_SCAN;
}

// Of the scan, whose unit is a centimetre, at 33 cm: 11 voxels of 16, chosen at random: all would
// have 8.6 neighbours each.
Tensor thinned_scan() {
    const pointcloud::Points points = pointcloud::read_points(scan());
    const Tensor all = pointcloud::voxelised(points, 33).coordinates;
    std::mt19937 random(1);
    int64_t kept = 0;
    for (int64_t row = 0; row < all.shape()[0]; ++row) {
        if (random() % 16 >= 11) continue;
        int32_t *values = all.data<int32_t>();
        std::copy_n(values + 4 * row, 4, values + 4 * kept++);
    }
    return all.slice(0, 0, kept);
}

}  // namespace

std::string CloudShape::name() const {
    const std::string k = std::to_string(kernel);
    return k + "x" + k + "x" + k + (submanifold() ? "" : "_s" + std::to_string(stride));
}

Tensor cloud_of(int64_t voxels) {
    static const Tensor scan = thinned_scan();
    return scan.slice(0, 0, std::min(voxels, scan.shape()[0]));
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
