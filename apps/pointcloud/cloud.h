#pragma once
// Clouds of points: from files, and as voxels.

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hk/tensor.h"

namespace hk::pointcloud {

struct CloudError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Point = std::array<double, 3>;  // x, y, z
using Points = std::vector<Point>;

// PLY (ascii or binary little endian: x, y, z of any type of `element vertex`), NumPy's .npy ([N,
// 3] or wider, f4 or f8, little endian, C order), told apart by content; anything else is read as
// text, a point a line, its first three numbers; lines that begin with # are comments. Throws
// program::FileError, and CloudError with the path and what is wrong, also for coordinates that are
// not finite.
Points read_points(const std::string &path);

// The same of a file's content; `name` is for messages.
Points parse_points(std::string_view content, const std::string &name);

struct Voxels {
    double size = 0;
    Point origin{};           // of voxel 0, 0, 0: the points' smallest coordinates
    Tensor coordinates;       // s32 [voxels, 4]: batch 0, x, y, z, ascending
    Points centres;           // the mean of each voxel's points
    std::vector<int> counts;  // how many they are
};

// Throws CloudError where a coordinate has no place in 31 bits, or the size is not above zero.
Voxels voxelised(std::span<const Point> points, double size);

// The size, of two digits, that makes about `count` voxels, or half as many as there are points
// where that is fewer.
double size_for(std::span<const Point> points, int64_t count);

}  // namespace hk::pointcloud
