// Convolutions over kernel maps against dense ones: submanifold, strided and transposed.

#include <gtest/gtest.h>

#include "hk/kernel_map.h"
#include "hk/tensor_product.h"
#include "tests/kernel_map/voxels.h"

namespace hk {
namespace {

using namespace tests;

// A dense grid of 2 batches, zero where there is no voxel.
class Grid {
public:
    static constexpr int64_t kSide = 24;
    explicit Grid(int64_t channels)
        : channels_(channels), values_(static_cast<size_t>(2 * kSide * kSide * kSide * channels)) {}
    Grid(const Tensor &coordinates, const Tensor &features) : Grid(features.shape()[1]) {
        int64_t row = 0;
        for (const Voxel &voxel : voxels_of(coordinates)) {
            for (int64_t c = 0; c < channels_; c++)
                at(voxel, c) = features.data<float>()[row * channels_ + c];
            row++;
        }
    }
    static bool inside(const Voxel &v) {
        return std::all_of(v.begin() + 1, v.end(),
                           [](int64_t i) { return i >= -kSide / 2 && i < kSide / 2; });
    }
    double &at(const Voxel &v, int64_t c) {
        const int64_t half = kSide / 2;
        const int64_t place =
            ((v[0] * kSide + v[1] + half) * kSide + v[2] + half) * kSide + v[3] + half;
        return values_[static_cast<size_t>(place * channels_ + c)];
    }
    int64_t channels() const { return channels_; }

private:
    int64_t channels_;
    std::vector<double> values_;
};

Tensor random_values(std::mt19937 &random, const Shape &shape) {
    Tensor tensor(shape, DataType::f32);
    for (int64_t i = 0; i < tensor.elements(); i++)
        tensor.data<float>()[i] = static_cast<float>(static_cast<int>(random() % 9) - 4);
    return tensor;
}

// Calls each(offset, x, y, z) with what is added to a coordinate.
template<typename Each>
void each_offset(const KernelMapOptions &options, Each each) {
    const auto &size = options.kernel_size;
    const auto step = [&](size_t a, int64_t i) {
        return (size[a] % 2 ? i - size[a] / 2 : i) * options.dilation[a];
    };
    for (int64_t n = 0; n < size[0] * size[1] * size[2]; n++) {
        each(n, step(0, n / (size[1] * size[2])), step(1, n / size[2] % size[1]),
             step(2, n % size[2]));
    }
}

// Integers, so that equality is exact.
void expect_features(const KernelMap &map, const Tensor &features, Grid &expected) {
    int64_t row = 0;
    for (const Voxel &voxel : voxels_of(map.coordinates)) {
        for (int64_t m = 0; m < expected.channels(); m++) {
            ASSERT_EQ(features.data<float>()[row * expected.channels() + m], expected.at(voxel, m));
        }
        row++;
    }
}

Tensor product(const KernelMap &map, const Tensor &input, const Tensor &weight) {
    Tensor output({map.output_rows, weight.shape()[2]}, DataType::f32);
    tensor_product(input, weight, TensorProductMaps(map), output);
    return output;
}

// output(o) = sum over offsets n of input(o * stride + n * dilation) * weight(n), and its
// transpose.
void check_convolution(const KernelMapOptions &options, bool strided) {
    constexpr int64_t kC = 5, kM = 3;
    std::mt19937 random(6);
    const Tensor coordinates = tensor_of(random_cloud(random, 700, 5, 2));
    const KernelMap map =
        strided ? strided_map(coordinates, options) : submanifold_map(coordinates, options);
    const Tensor input = random_values(random, {map.input_rows, kC});
    const Tensor weight = random_values(random, {map.offsets, kC, kM});
    const float *w = weight.data<float>();
    Grid dense(coordinates, input), expected(kM);
    const auto each_term = [&](auto add) {
        for (const Voxel &o : voxels_of(map.coordinates)) {
            each_offset(options, [&](int64_t n, int64_t x, int64_t y, int64_t z) {
                const Voxel from{o[0], o[1] * options.stride[0] + x, o[2] * options.stride[1] + y,
                                 o[3] * options.stride[2] + z};
                if (Grid::inside(from)) add(o, from, n);
            });
        }
    };
    each_term([&](const Voxel &o, const Voxel &from, int64_t n) {
        for (int64_t c = 0; c < kC; c++) {
            for (int64_t m = 0; m < kM; m++)
                expected.at(o, m) += dense.at(from, c) * w[(n * kC + c) * kM + m];
        }
    });
    const Tensor output = product(map, input, weight);
    expect_features(map, output, expected);

    const KernelMap back = map.transposed(coordinates);
    const Tensor up = random_values(random, {map.offsets, kM, kC});
    Grid coarse(map.coordinates, output), fine(kC);
    each_term([&](const Voxel &o, const Voxel &from, int64_t n) {
        for (int64_t m = 0; m < kM; m++) {
            for (int64_t c = 0; c < kC; c++)
                fine.at(from, c) += coarse.at(o, m) * up.data<float>()[(n * kM + m) * kC + c];
        }
    });
    EXPECT_EQ(back.output_rows, map.input_rows);
    EXPECT_EQ(back.input_rows, map.output_rows);
    expect_features(back, product(back, output, up), fine);
}

TEST(KernelMap, ConvolvesAsDenseGridsDo) {
    check_convolution({}, false);
    check_convolution({{3, 3, 3}, {1, 1, 1}, {2, 1, 2}}, false);
    check_convolution({{2, 2, 2}, {2, 2, 2}, {1, 1, 1}}, true);
    check_convolution({{3, 3, 3}, {2, 2, 2}, {1, 1, 1}}, true);
    check_convolution({{5, 2, 1}, {3, 2, 1}, {1, 2, 1}}, true);
}

}  // namespace
}  // namespace hk
