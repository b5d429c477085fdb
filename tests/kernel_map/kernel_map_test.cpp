// Kernel maps against their definition.

#include "hk/kernel_map.h"

#include <HalideRuntime.h>

#include <ctime>
#include <map>

#include "tests/kernel_map/reference.h"
#include "tests/kernel_map/voxels.h"
#include "tests/runtime/expect_error.h"

namespace hk {
namespace {

using namespace tests;

using Expected = reference::KernelMapResult;

template<typename T>
std::vector<T> values_of(const Tensor &tensor) {
    return {tensor.data<T>(), tensor.data<T>() + tensor.elements()};
}

void expect_map(const KernelMap &map, const Expected &expected, size_t inputs) {
    EXPECT_EQ(map.input_rows, static_cast<int64_t>(inputs));
    EXPECT_EQ(map.output_rows, static_cast<int64_t>(expected.outputs.size()));
    EXPECT_EQ(map.offsets + 1, static_cast<int64_t>(expected.starts.size()));
    EXPECT_EQ(map.pairs(), static_cast<int64_t>(expected.imap.size()));
    EXPECT_EQ(voxels_of(map.coordinates), expected.outputs);
    EXPECT_EQ(values_of<int64_t>(map.starts), expected.starts);
    EXPECT_EQ(values_of<int32_t>(map.imap), expected.imap);
    EXPECT_EQ(values_of<int32_t>(map.omap), expected.omap);
}

KernelMap made(const Tensor &coordinates, const KernelMapOptions &options, bool strided) {
    return strided ? strided_map(coordinates, options) : submanifold_map(coordinates, options);
}

void check(const Voxels &voxels, const KernelMapOptions &options, bool strided) {
    expect_map(made(tensor_of(voxels), options, strided),
               reference::kernel_map(voxels, options, strided), voxels.size());
}

std::string told(const KernelMapOptions &options) {
    std::string text;
    for (const auto &values : {options.kernel_size, options.stride, options.dilation})
        text += to_string(Shape(values.begin(), values.end()));
    return text;
}

TEST(KernelMap, KernelsThatReachFar) {
    std::mt19937 random(2);
    const Voxels voxels = random_cloud(random, 300, 5, 2);
    for (const int64_t dilation : {3, 10, 11, 1000, 2147483647}) {
        check(voxels, {{3, 3, 3}, {1, 1, 1}, {1, dilation, dilation}}, false);
        check(voxels, {{2, 5, 2}, {2, 2, 2}, {dilation, 1, dilation}}, true);
    }
    for (const int64_t stride : {7, 10, 11, 100000})
        check(voxels, {{3, 2, 3}, {stride, 1, stride}, {1, 1, 1}}, true);
    check(voxels, {{1, 1, 25}, {1, 1, 1}, {1, 1, 1}}, false);
    check(voxels, {{1, 9, 20}, {1, 3, 2}, {1, 1, 1}}, true);
}

// More rows than a task has.
TEST(KernelMap, LargeClouds) {
    std::mt19937 random(3);
    Voxels voxels = random_cloud(random, 30000, 20, 2);
    check(voxels, {}, false);
    check(voxels, {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}}, true);
    check(voxels, {{3, 3, 3}, {2, 2, 2}, {1, 1, 1}}, true);
    // Keys and rows that don't fit one number.
    voxels.push_back({0, 1 << 18, -(1 << 18), 1 << 18});
    check(voxels, {}, false);
    std::sort(voxels.begin(), voxels.end());
    check(voxels, {}, false);
    check(voxels, {{2, 1, 4}, {1, 1, 1}, {1, 1, 1}}, false);
}

TEST(KernelMap, FewVoxels) {
    for (const bool strided : {false, true}) {
        check({}, {}, strided);
        check({{0, 0, 0, 0}}, {}, strided);
        check({{3, -7, 5, -1}}, {}, strided);
    }
    check({{3, -7, 5, -1}}, {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}}, true);
    check({{0, 0, 0, 1}, {0, 0, 0, 0}}, {}, false);
    check({{0, 0, 0, 0}, {1, 0, 0, 1}}, {}, false);
}

TEST(KernelMap, ExtremeCoordinates) {
    constexpr int64_t kLeast = INT32_MIN, kMost = INT32_MAX;
    check({{0, kMost, kMost, kMost}, {0, kMost - 1, kMost, kMost}}, {}, false);
    check({{kMost, kLeast, kLeast, kLeast}, {kMost, kLeast, kLeast, kLeast + 1}}, {}, false);
    // Neighbours across the ends of 32 bits are none.
    check({{0, 0, 0, kMost}, {0, 0, 0, kLeast}, {0, 0, 1, kLeast}}, {}, false);
    check({{0, 0, kMost, 0}, {0, 0, kLeast, 0}}, {{3, 3, 3}, {3, 3, 3}, {1, 1, 1}}, true);
    check({{0, kLeast, 0, 0}, {0, kMost, 0, 0}}, {{3, 1, 1}, {kMost, 1, 1}, {1, 1, 1}}, true);
    // 20 bits an axis are possible, 21 with room for the kernel not.
    check({{0, 0, 0, 0}, {0, 1 << 19, 1 << 19, 1 << 19}, {0, 1 << 19, (1 << 19) - 1, 0}}, {},
          false);
    EXPECT_INVALID(
        "submanifold_map: coordinates span batch 0 to 0, x -2147483648 to 5, y 0 to 0, "
        "z 0 to 2147483647; with the kernel's reach their keys have 64 bits, at most 62",
        submanifold_map(tensor_of({{0, kLeast, 0, 0}, {0, 5, 0, kMost}})));
    EXPECT_INVALID("y of row 1 is 2147483648, it must be -2147483648 to 2147483647",
                   submanifold_map(tensor_of({{0, 0, 0, 0}, {0, 0, kMost + 1, 0}}, DataType::s64)));
    EXPECT_INVALID("z of row 0 is -9223372036854775808, it must be",
                   submanifold_map(tensor_of({{0, 0, 0, INT64_MIN}}, DataType::s64)));
    EXPECT_INVALID("batch of row 2 is -1, it must be 0 to 2147483647",
                   strided_map(tensor_of({{0, 0, 0, 0}, {0, 0, 0, 1}, {-1, 0, 0, 0}}), {}));
}

TEST(KernelMap, RepeatedCoordinates) {
    std::mt19937 random(4);
    Voxels voxels = random_cloud(random, 20000, 30, 1);
    voxels[700] = voxels[17000] = voxels[12000] = {0, 5, -2, 7};
    voxels[9999] = voxels[12500] = {0, -3, -2, 7};
    std::erase_if(voxels, [&, at = 0](const Voxel &voxel) mutable {
        const bool marked = at == 700 || at == 9999 || at == 12000 || at == 12500 || at == 17000;
        at++;
        return !marked && (voxel == Voxel{0, 5, -2, 7} || voxel == Voxel{0, -3, -2, 7});
    });
    const auto at = [&](const Voxel &voxel, int which) {
        for (size_t i = 0;; i++) {
            if (voxels[i] == voxel && which-- == 0) return std::to_string(i);
        }
    };
    const std::string message = "rows " + at({0, 5, -2, 7}, 0) + " and " + at({0, 5, -2, 7}, 1) +
                                " of the coordinates are both (0, 5, -2, 7)";
    EXPECT_INVALID("submanifold_map: " + message, submanifold_map(tensor_of(voxels)));
    EXPECT_INVALID("strided_map: " + message,
                   strided_map(tensor_of(voxels), {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}}));
    // In ascending order.
    EXPECT_INVALID("rows 1 and 2 of the coordinates are both (0, 1, 1, 1)",
                   submanifold_map(tensor_of({{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 1, 1}})));
}

TEST(KernelMap, BadInput) {
    const Tensor good = tensor_of({{0, 0, 0, 0}});
    EXPECT_INVALID("submanifold_map: the coordinates are undefined", submanifold_map({}));
    EXPECT_INVALID("the coordinates are f32, not s32 or s64",
                   submanifold_map(Tensor::zeros({5, 4}, DataType::f32)));
    EXPECT_INVALID("the coordinates have shape [5, 3], it must be [rows, 4]",
                   strided_map(Tensor::zeros({5, 3}, DataType::s32), {}));
    EXPECT_INVALID("the coordinates have shape [4], it must be [rows, 4]",
                   submanifold_map(Tensor::zeros({4}, DataType::s32)));
    EXPECT_INVALID("submanifold_map: stride along y is 2, it must be 1",
                   submanifold_map(good, {{3, 3, 3}, {1, 2, 1}, {1, 1, 1}}));
    EXPECT_INVALID("strided_map: stride along x is 0, it must be 1 to 2147483647",
                   strided_map(good, {{3, 3, 3}, {0, 2, 1}, {1, 1, 1}}));
    EXPECT_INVALID("kernel_size along z is -3, it must be 1",
                   strided_map(good, {{3, 3, -3}, {1, 1, 1}, {1, 1, 1}}));
    EXPECT_INVALID("dilation along z is 2147483648, it must be 1",
                   strided_map(good, {{3, 3, 3}, {1, 1, 1}, {1, 1, int64_t{1} << 31}}));
    EXPECT_INVALID("kernel_size [1024, 1025, 1] has too many offsets, at most 1048576",
                   strided_map(good, {{1024, 1025, 1}, {1, 1, 1}, {1, 1, 1}}));
    EXPECT_INVALID("transposed: there are 2 rows of input coordinates, the map has 1 input rows",
                   submanifold_map(good).transposed(tensor_of({{0, 0, 0, 0}, {0, 0, 0, 1}})));
    EXPECT_INVALID("transposed: y of row 0 is -2147483649, it must be",
                   submanifold_map(good).transposed(
                       tensor_of({{0, 0, int64_t{INT32_MIN} - 1, 0}}, DataType::s64)));
    EXPECT_INVALID(
        "submanifold_map: 2147483647 rows of the coordinates are the same: their stride is 0",
        submanifold_map(
            Tensor::borrow(good.data<int32_t>(), DataType::s32, {INT32_MAX, 4}, {0, 1})));
    const Device device = Device::opencl();
    if (!device.available()) return;
    EXPECT_INVALID("the coordinates are on opencl:0, they must be on cpu",
                   submanifold_map(good.to(device)));
    const KernelMap there = submanifold_map(good).to(device);
    EXPECT_EQ(there.imap.device(), device);
    EXPECT_EQ(there.pairs(), 1);
}

// Which are found in cells.
TEST(KernelMap, RandomLargeKernels) {
    std::mt19937 random(6);
    constexpr std::array<std::array<int64_t, 3>, 8> kSizes{{{13, 13, 13},
                                                            {31, 20, 2},
                                                            {1, 64, 90},
                                                            {40, 1, 40},
                                                            {3, 37, 37},
                                                            {16, 16, 16},
                                                            {33, 2, 33},
                                                            {2, 65, 65}}};
    for (size_t i = 0; i < 48; i++) {
        const bool strided = i % 2;
        KernelMapOptions options;
        options.kernel_size = kSizes[i / 2 % kSizes.size()];
        for (size_t a = 0; a < 3; a++) {
            options.dilation[a] = random() % 2 ? 1 : 1 + random() % 4;
            if (strided) options.stride[a] = 1 + random() % 5;
        }
        constexpr std::array<int64_t, 3> kHalves{12, 60, 1000};
        const Voxels voxels = random_cloud(random, 60, kHalves[i % 3], 1 + i % 2);
        SCOPED_TRACE(std::to_string(i) + ": " + told(options));
        check(voxels, options, strided);
        if (HasFailure()) return;
    }
}

// Cells at the ends of what a key can say, and more rows than a task has.
TEST(KernelMap, LargeKernelsOfExtremeClouds) {
    constexpr int64_t kLeast = INT32_MIN, kMost = INT32_MAX;
    Voxels corners;
    for (const int64_t x : {kLeast, kLeast + 1, kLeast + 40, int64_t{0}, kMost - 39, kMost}) {
        for (const int64_t y : {kLeast, int64_t{-1}, int64_t{0}, int64_t{1}, kMost})
            corners.push_back({kMost, x, y % 4096, 5});
    }
    std::shuffle(corners.begin(), corners.end(), std::mt19937(7));
    std::sort(corners.begin(), corners.end());
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    check(corners, {{81, 81, 1}, {1, 1, 1}, {1, 1, 1}}, false);
    check(corners, {{81, 80, 1}, {1, 1, 1}, {1, 40, 1}}, false);
    check(corners, {{300, 300, 1}, {7, 3, 1}, {3, 2, 1}}, true);
    check(corners, {{3, 999, 1}, {1, 1, 1}, {kMost, 9, 1}}, false);
    std::mt19937 random(8);
    check(random_cloud(random, 9000, 30, 1), {{17, 17, 1}, {1, 1, 1}, {1, 1, 1}}, false);
}

// 101^3 offsets of scattered voxels, which have next to no pairs.
TEST(KernelMap, FewPairsOfManyOffsets) {
    std::mt19937 random(9);
    const Voxels voxels = random_cloud(random, 50000, 100000, 1);
    const std::clock_t begin = std::clock();
    const KernelMap map =
        submanifold_map(tensor_of(voxels), {{101, 101, 101}, {1, 1, 1}, {1, 1, 1}});
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(map.pairs(), 52000);
    EXPECT_LT(seconds, 3);  // 0.1, or 60 with a pass over the rows for each few offsets
}

TEST(KernelMap, AnyNumberOfThreads) {
    std::mt19937 random(5);
    const Tensor cloud = tensor_of(random_cloud(random, 60000, 30, 2));
    const KernelMapOptions down{{2, 2, 2}, {2, 2, 2}, {1, 1, 1}};
    const KernelMapOptions large{{9, 33, 1}, {3, 3, 3}, {1, 1, 1}};
    const auto maps = [&](int threads) {
        const int before = halide_set_num_threads(threads);
        const std::array<KernelMap, 3> made{submanifold_map(cloud), strided_map(cloud, down),
                                            strided_map(cloud, large)};
        halide_set_num_threads(before);
        return made;
    };
    const auto one = maps(1);
    for (const int threads : {2, 3, 8}) {
        const auto many = maps(threads);
        for (size_t i = 0; i < one.size(); i++) {
            EXPECT_EQ(voxels_of(one[i].coordinates), voxels_of(many[i].coordinates));
            EXPECT_EQ(values_of<int32_t>(one[i].imap), values_of<int32_t>(many[i].imap));
            EXPECT_EQ(values_of<int32_t>(one[i].omap), values_of<int32_t>(many[i].omap));
            EXPECT_EQ(values_of<int64_t>(one[i].starts), values_of<int64_t>(many[i].starts));
        }
    }
}

}  // namespace
}  // namespace hk
