// The network's layers, and what counts as agreement.

#include "apps/pointcloud/network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/tensor_product/reference.h"

namespace hk::pointcloud {
namespace {

Voxels slope() {
    Points points;
    for (int x = 0; x < 20; x++) {
        for (int y = 0; y < 15; y++) points.push_back({x + 0.5, y + 0.5, (x + y) / 4 + 0.5});
    }
    return voxelised(points, 1);
}

TEST(Network, GoesDownAndBackUp) {
    const Voxels voxels = slope();
    const std::vector<Layer> layers = network(voxels, 6);
    ASSERT_EQ(layers.size(), 5u);
    int64_t channels = 4, rows = 300;
    for (const Layer &layer : layers) {
        EXPECT_EQ(layer.input_channels(), channels);
        EXPECT_EQ(layer.map.input_rows, rows);
        channels = layer.output_channels();
        rows = layer.map.output_rows;
    }
    EXPECT_EQ(channels, 6);
    EXPECT_EQ(rows, 300);
    EXPECT_LT(layers[3].map.output_rows, 150);
    EXPECT_EQ(layers[0].operations(), 2.0 * 4 * 6 * static_cast<double>(layers[0].map.pairs()));
}

TEST(Network, WeightsAreTheSameEveryTime) {
    const Voxels voxels = slope();
    const auto first = network(voxels, 6), second = network(voxels, 6);
    for (size_t i = 0; i < first.size(); i++) {
        const Tensor &a = first[i].weight, &b = second[i].weight;
        EXPECT_TRUE(std::equal(a.data<float>(), a.data<float>() + a.elements(), b.data<float>()));
    }
}

TEST(Network, ALayerIsAgainstItsDefinition) {
    const Voxels voxels = slope();
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        const Layer layer = network(voxels, 6)[0];
        const Tensor input = converted(features_of(voxels), type);
        const LayerRun run = run_layer(layer, input, Device::cpu(), Summation::deterministic, 1);
        const KernelMap &map = layer.map;
        const auto expected = reference::tensor_product(
            input, converted(layer.weight, type), {map.imap, map.omap, map.starts}, run.output);
        Tensor exact(run.output.shape(), DataType::f32);
        std::copy(expected.values.begin(), expected.values.end(), exact.data<float>());
        EXPECT_LE(disagreement(layer, input, run.output, converted(exact, type)), 1);
        // One value that is off by a hundredth.
        Tensor wrong = converted(exact, DataType::f32);
        float &value = wrong.data<float>()[77];
        value = value * 1.03f + 0.03f;
        EXPECT_GT(disagreement(layer, input, run.output, converted(wrong, type)), 1);
        value = NAN;
        EXPECT_EQ(disagreement(layer, input, run.output, converted(wrong, type)), INFINITY);
    }
}

TEST(Network, ReluKeepsWhatIsPositive) {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        Tensor values({4}, DataType::f32);
        std::copy_n(std::array{1.5f, -2.0f, -0.0f, 0.0f}.begin(), 4, values.data<float>());
        const Tensor tensor = converted(values, type);
        apply_relu(tensor);
        const Tensor after = converted(tensor, DataType::f32);
        EXPECT_EQ(std::vector<float>(after.data<float>(), after.data<float>() + 4),
                  (std::vector<float>{1.5f, 0, 0, 0}));
        EXPECT_FALSE(std::signbit(after.data<float>()[2]));
    }
}

}  // namespace
}  // namespace hk::pointcloud
