#pragma once
// A small sparse network with fixed weights: two submanifold layers, one down, one on the coarse
// level, one back up.

#include <string>
#include <vector>

#include "cloud.h"
#include "hk/kernel_map.h"
#include "hk/tensor_product.h"

namespace hk::pointcloud {

struct Layer {
    std::string name;
    KernelMap map;
    TensorProductMaps maps;
    Tensor weight;       // f32 [offsets, C, M]
    double map_seconds;  // of building the map, the fastest of three; 0 where it was there already
    bool relu;           // after it

    int64_t input_channels() const { return weight.shape()[1]; }
    int64_t output_channels() const { return weight.shape()[2]; }
    double operations() const;
};

// Weights are uniform, from a seeded generator, and keep the variance of what they multiply.
std::vector<Layer> network(const Voxels &voxels, int64_t channels);

// What the first layer reads, f32 [voxels, 4]: 1, height, how many points, how high in the voxel.
Tensor features_of(const Voxels &voxels);

// Conversions between f32 and f32, f16 or bf16; on the host.
Tensor converted(const Tensor &tensor, DataType type);

void apply_relu(const Tensor &tensor);  // in place, on the host

struct LayerRun {
    Tensor output;  // on the host, before ReLU
    double seconds = 0;
};

// The fastest of `repeats` runs on a device, whose input comes from the host.
LayerRun run_layer(const Layer &layer, const Tensor &input, Device device, Summation summation,
                   int repeats);

// Whether a device has a kernel for it.
bool has_kernel(const Layer &layer, DataType type, Device device, Summation summation);

// How far two results of a layer may be apart, as a multiple: 1 is just allowed. Each of T products
// of a sum in any order may be off by 2^-24 of the sum of magnitudes, the result by its own
// rounding. Infinity where either is not a number.
double disagreement(const Layer &layer, const Tensor &input, const Tensor &a, const Tensor &b);

}  // namespace hk::pointcloud
