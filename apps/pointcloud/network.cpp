#include "network.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

namespace hk::pointcloud {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of a weight: what all offsets share, which blends neighbours, and what each has of its own. The
// squares add up to 1.
constexpr double kShared = 0.96, kOwn = 0.28;

Tensor weight_of(const KernelMap &map, int64_t inputs, int64_t outputs, std::mt19937_64 &random) {
    Tensor weight({map.offsets, inputs, outputs}, DataType::f32);
    // He and others 2015, for the mean number of pairs of a row.
    const double pairs = static_cast<double>(map.pairs()) /
                         static_cast<double>(std::max<int64_t>(1, map.output_rows));
    const double most = std::sqrt(6 / (std::max(1.0, pairs) * static_cast<double>(inputs)));
    const auto uniform = [&] { return 2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1; };
    std::vector<double> shared(static_cast<size_t>(inputs * outputs));
    for (double &value : shared) value = uniform();
    auto *values = weight.data<float>();
    for (int64_t n = 0; n < map.offsets; n++) {
        for (const double value : shared)
            *values++ = static_cast<float>(most * (kShared * value + kOwn * uniform()));
    }
    return weight;
}

Tensor magnitudes(const Tensor &tensor) {
    const Tensor result = converted(tensor, DataType::f32);
    auto *values = result.data<float>();
    for (int64_t i = 0; i < result.elements(); i++) values[i] = std::abs(values[i]);
    return result;
}

}  // namespace

double Layer::operations() const {
    return 2.0 * static_cast<double>(map.pairs()) * static_cast<double>(input_channels()) *
           static_cast<double>(output_channels());
}

std::vector<Layer> network(const Voxels &voxels, int64_t channels) {
    std::mt19937_64 random(7);
    std::vector<Layer> layers;
    const auto add = [&](const char *name, auto make, int64_t inputs, int64_t outputs, bool relu,
                         bool timed = true) {
        KernelMap map;
        double seconds = timed ? std::numeric_limits<double>::max() : 0;
        for (int i = 0; i < (timed ? 3 : 1); i++) {
            const auto start = std::chrono::steady_clock::now();
            map = make();
            seconds = std::min(seconds, seconds_since(start));
        }
        Tensor weight = weight_of(map, inputs, outputs, random);
        TensorProductMaps maps(map);
        layers.push_back({name, std::move(map), std::move(maps), std::move(weight), seconds, relu});
    };
    const Tensor &fine = voxels.coordinates;
    add(
        "submanifold 3x3x3", [&] { return submanifold_map(fine); }, 4, channels, true);
    const KernelMap same = layers[0].map;
    add(
        "submanifold 3x3x3", [&] { return same; }, channels, channels, true, false);
    const KernelMapOptions down{{2, 2, 2}, {2, 2, 2}, {1, 1, 1}};
    add(
        "down 2x2x2", [&] { return strided_map(fine, down); }, channels, 2 * channels, true);
    const KernelMap coarse = layers.back().map;
    add(
        "submanifold 3x3x3", [&] { return submanifold_map(coarse.coordinates); }, 2 * channels,
        2 * channels, true);
    add(
        "up 2x2x2", [&] { return coarse.transposed(fine); }, 2 * channels, channels, false, false);
    return layers;
}

Tensor features_of(const Voxels &voxels) {
    const auto count = static_cast<int64_t>(voxels.centres.size());
    Tensor features({count, 4}, DataType::f32);
    double highest = voxels.size;
    for (const Point &centre : voxels.centres)
        highest = std::max(highest, centre[2] - voxels.origin[2]);
    auto *values = features.data<float>();
    for (size_t v = 0; v < voxels.centres.size(); v++) {
        const double height = voxels.centres[v][2] - voxels.origin[2];
        const double inside = height / voxels.size - std::floor(height / voxels.size);
        *values++ = 1;
        *values++ = static_cast<float>(2 * height / highest - 1);
        *values++ = static_cast<float>(std::log2(voxels.counts[v]) / 4);
        *values++ = static_cast<float>(2 * inside - 1);
    }
    return features;
}

Tensor converted(const Tensor &tensor, DataType type) {
    Tensor result(tensor.shape(), type);
    const auto read = [&](int64_t i) {
        if (tensor.type() == DataType::f32) return tensor.data<float>()[i];
        const uint16_t bits = tensor.data<uint16_t>()[i];
        return tensor.type() == DataType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
    };
    for (int64_t i = 0; i < tensor.elements(); i++) {
        const float value = read(i);
        if (type == DataType::f32) {
            result.data<float>()[i] = value;
        } else {
            result.data<uint16_t>()[i] =
                type == DataType::f16 ? f16_from_f32(value) : bf16_from_f32(value);
        }
    }
    return result;
}

void apply_relu(const Tensor &tensor) {
    // The sign is the first bit of all three types.
    for (int64_t i = 0; i < tensor.elements(); i++) {
        if (tensor.type() == DataType::f32) {
            if (std::signbit(tensor.data<float>()[i])) tensor.data<float>()[i] = 0;
        } else if (tensor.data<uint16_t>()[i] >> 15) {
            tensor.data<uint16_t>()[i] = 0;
        }
    }
}

bool has_kernel(const Layer &layer, DataType type, Device device, Summation summation) {
    const auto problem = TensorProductProblem::from_shapes(
        {layer.map.input_rows, layer.input_channels()}, layer.weight.shape(), layer.map.pairs(),
        {layer.map.output_rows, layer.output_channels()}, type, {.summation = summation});
    return select_tensor_product(problem, device.type(), device.limits()).kernel;
}

LayerRun run_layer(const Layer &layer, const Tensor &input, Device device, Summation summation,
                   int repeats) {
    const Tensor in = input.to(device), weight = converted(layer.weight, input.type()).to(device);
    const Tensor out({layer.map.output_rows, layer.output_channels()}, input.type(), device);
    LayerRun run;
    run.seconds = std::numeric_limits<double>::max();
    // The first run loads the code and sorts the maps.
    for (int i = 0; i <= repeats; i++) {
        const auto start = std::chrono::steady_clock::now();
        tensor_product(in, weight, layer.maps, out, {.summation = summation});
        device.synchronize();
        if (i > 0) run.seconds = std::min(run.seconds, seconds_since(start));
    }
    run.output = out.to(Device::cpu());
    return run;
}

double disagreement(const Layer &layer, const Tensor &input, const Tensor &a, const Tensor &b) {
    Layer absolute = layer;
    absolute.weight = magnitudes(converted(layer.weight, input.type()));
    const Tensor sums =
        run_layer(absolute, magnitudes(input), Device::cpu(), Summation::deterministic, 0).output;
    const Tensor first = converted(a, DataType::f32), second = converted(b, DataType::f32);
    const double terms = static_cast<double>(layer.map.offsets * layer.input_channels());
    const double rounding = input.type() == DataType::f16    ? 0x1p-11
                            : input.type() == DataType::bf16 ? 0x1p-8
                                                             : 0x1p-24;
    double worst = 0;
    for (int64_t i = 0; i < sums.elements(); i++) {
        const double x = first.data<float>()[i], y = second.data<float>()[i];
        const double allowed = 2 * (terms * 0x1p-24 * sums.data<float>()[i] +
                                    rounding * std::max(std::abs(x), std::abs(y)) + 0x1p-24);
        const double ratio = std::abs(x - y) / allowed;
        worst = ratio <= worst ? worst : ratio;  // also where it is not a number
        if (std::isnan(ratio)) return std::numeric_limits<double>::infinity();
    }
    return worst;
}

}  // namespace hk::pointcloud
