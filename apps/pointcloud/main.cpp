// Runs a small sparse network over a scan on every device, checks that the devices agree, and draws
// the cloud in the colours of its features.

#include <cstdio>

#include "cloud.h"
#include "hk/error.h"
#include "network.h"
#include "picture.h"
#include "principal.h"
#include "program/flags.h"
#include "program/program.h"

namespace hk::pointcloud {
namespace {

constexpr int64_t kVoxels = 120000;  // about, where no size is given

struct Arguments {
    std::string file = HK_SCAN, output = "cloud.png", type = "f32";
    std::vector<std::string> devices;
    double voxel = 0;
    int64_t channels = 32;
    int repeats = 3;
    View view;
};

std::vector<Device> devices_of(const Arguments &arguments) {
    if (arguments.devices.empty()) return Device::all();
    std::vector<Device> devices;
    for (const std::string &name : arguments.devices) {
        devices.push_back(Device::parse(name));
        if (!devices.back().available()) {
            throw DeviceError("device " + name + " is not available here");
        }
    }
    return devices;
}

// What the first device computed: each layer's input and output.
struct Reference {
    std::vector<Tensor> inputs, outputs;
    std::string name;
};

void print_layer(const Layer &layer, double seconds) {
    std::printf(
        "%-18s %8lld -> %7lld %9lld %6lld -> %-4lld %9.3f %9.1f", layer.name.c_str(),
        static_cast<long long>(layer.map.input_rows), static_cast<long long>(layer.map.output_rows),
        static_cast<long long>(layer.map.pairs()), static_cast<long long>(layer.input_channels()),
        static_cast<long long>(layer.output_channels()), 1e3 * seconds,
        layer.operations() / seconds / 1e9);
}

// Each layer reads what the first device gave it, so that a fault shows in its own layer. ReLU runs
// on the host and is not timed. Returns whether all layers agree.
bool run(const std::vector<Layer> &layers, const Tensor &features, Device device,
         Summation summation, int repeats, Reference &reference) {
    const std::string name = device.name() + " " + std::string(name_of(summation));
    for (const Layer &layer : layers) {
        if (has_kernel(layer, features.type(), device, summation)) continue;
        std::printf("\n%s: no kernel of tensor_product for %s\n", name.c_str(),
                    std::string(name_of(features.type())).c_str());
        return true;
    }
    std::printf("\n%s (%s)\n%-18s %19s %9s %14s %9s %9s\n", name.c_str(),
                device.description().c_str(), "layer", "voxels", "pairs", "channels", "ms",
                "GFLOP/s");
    const bool first = reference.inputs.empty();
    if (first) reference.name = name;
    bool agree = true;
    Tensor input = features;
    for (size_t i = 0; i < layers.size(); i++) {
        if (!first) input = reference.inputs[i];
        const LayerRun run = run_layer(layers[i], input, device, summation, repeats);
        print_layer(layers[i], run.seconds);
        if (first) {
            reference.inputs.push_back(input);
            reference.outputs.push_back(run.output);
            input = run.output.to(Device::cpu());
            if (layers[i].relu) apply_relu(input);
        } else {
            const double apart = disagreement(layers[i], input, reference.outputs[i], run.output);
            agree = agree && apart <= 1;
            std::printf("  %s", apart <= 1 ? "agrees" : "DISAGREES");
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    if (!agree) std::printf("%s and %s DISAGREE\n", reference.name.c_str(), name.c_str());
    return agree;
}

int run_cloud(const Arguments &arguments) {
    const DataType type = data_type_of(arguments.type);
    const Points points = read_points(arguments.file);
    if (points.empty()) throw CloudError(arguments.file + ": it has no points");
    const double size = arguments.voxel > 0 ? arguments.voxel : size_for(points, kVoxels);
    const Voxels voxels = voxelised(points, size);
    std::printf("%s: %zu points, %zu voxels of %g\n", arguments.file.c_str(), points.size(),
                voxels.centres.size(), size);
    const std::vector<Layer> layers = network(voxels, arguments.channels);
    for (const Layer &layer : layers) {
        if (layer.map_seconds == 0) continue;
        std::printf("map of %s: %lld voxels, %lld pairs in %.2f ms\n", layer.name.c_str(),
                    static_cast<long long>(layer.map.output_rows),
                    static_cast<long long>(layer.map.pairs()), 1e3 * layer.map_seconds);
    }
    const Tensor features = converted(features_of(voxels), type);
    Reference reference;
    bool agree = true;
    for (const Device device : devices_of(arguments)) {
        for (const Summation summation : {Summation::deterministic, Summation::atomic}) {
            // The CPU's kernels are the same in both.
            if (device.is_cpu() && summation == Summation::atomic) continue;
            agree &= run(layers, features, device, summation, arguments.repeats, reference);
        }
    }
    if (reference.outputs.empty()) throw DeviceError("no device has kernels for this network");
    const Tensor last = converted(reference.outputs.back(), DataType::f32);
    write_png(arguments.output,
              picture_of(voxels.centres, colours_of(last), 1.5 * size, arguments.view));
    std::printf("\nwrote %s\n", arguments.output.c_str());
    return agree ? 0 : 1;
}

}  // namespace
}  // namespace hk::pointcloud

int main(int argc, char **argv) {
    hk::pointcloud::Arguments arguments;
    hk::program::Flags flags(
        "Runs a small sparse network over a cloud of points on every device, checks that the "
        "devices agree, and draws the cloud in the colours of its features.");
    flags.add("file", arguments.file, "A PLY, a NumPy .npy [N, 3], or text with x y z a line")
        .show_default();
    flags
        .add("--voxel", arguments.voxel,
             "A voxel's side in the file's unit (default: for about 120 thousand voxels)")
        .check(hk::program::positive());
    flags.add("--channels", arguments.channels, "Channels of the fine layers")
        .check(hk::program::range(1, 1024))
        .show_default();
    flags.add("--type", arguments.type, "Type of features and weights")
        .check(hk::program::one_of({"f32", "f16", "bf16"}))
        .show_default();
    flags.add("--device", arguments.devices,
              "cpu, cuda:0, opencl:0, ... (default: all that are here)");
    flags.add("--output", arguments.output, "The PNG to write").show_default();
    flags.add("--turn", arguments.view.turn, "Degrees around the vertical")
        .check(hk::program::finite())
        .show_default();
    flags.add("--tilt", arguments.view.tilt, "Degrees from the horizon downwards")
        .check(hk::program::finite())
        .show_default();
    flags.add("--repeats", arguments.repeats, "Timed runs a layer; the fastest counts")
        .check(hk::program::range(1, 1000))
        .show_default();
    return hk::program::run("pointcloud", flags, argc, argv,
                            [&] { return hk::pointcloud::run_cloud(arguments); });
}
