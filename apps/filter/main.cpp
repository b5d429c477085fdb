// Runs a bank of oriented filters over a photograph on every device, checks that the devices agree,
// and draws the responses as a contact sheet.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "bank.h"
#include "hk/conv2d.h"
#include "hk/error.h"
#include "pictures/image.h"
#include "program/program.h"
#include "sheet.h"

namespace hk::filter {
namespace {

struct Arguments {
    std::string image = HK_PHOTO, output = "responses.png";
    std::vector<std::string> devices;
    int max_size = 1024;
    int repeats = 5;
};

// The picture as a tensor [1, H + 14, W + 14, 3] in 0..1, its edges repeated outwards, so that the
// frame of the picture is no edge to the filters.
Tensor tensor_of(const Image &image) {
    constexpr int radius = kernel_size / 2;
    const int width = image.width + 2 * radius, height = image.height + 2 * radius;
    Tensor tensor({1, height, width, 3}, DataType::f32);
    auto *next = tensor.data<float>();
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (const uint8_t value : image.at(std::clamp(x - radius, 0, image.width - 1),
                                                std::clamp(y - radius, 0, image.height - 1))) {
                *next++ = static_cast<float>(value) / 255;
            }
        }
    }
    return tensor;
}

Tensor weight_tensor() {
    Tensor tensor({filters, kernel_size, kernel_size, 3}, DataType::f32);
    std::ranges::copy(weights(), tensor.data<float>());
    return tensor;
}

struct Run {
    Device device;
    std::string kernel;
    double milliseconds = 0, gflops = 0;
    Tensor responses;  // on the host
};

Run run(Device device, const Tensor &input, const Tensor &weight, int repeats) {
    const auto problem =
        Conv2dProblem::from_shapes(input.shape(), weight.shape(), input.type(), {});
    const Selection selection = select_conv2d(problem, device.type(), device.limits());
    const Tensor in = input.to(device), filter = weight.to(device);
    const Tensor out(problem.output_shape(), input.type(), device);

    Run result;
    result.device = device;
    result.kernel = selection.kernel ? selection.kernel->name : "none";
    // A strip of the picture loads the device code.
    const Tensor strip = out.slice(1, 0, std::min<int64_t>(out.shape()[1], kernel_size));
    conv2d(in.slice(1, 0, strip.shape()[1] + kernel_size - 1), filter, {}, {}, strip, {});
    device.synchronize();
    double best = std::numeric_limits<double>::max(), total = 0;
    for (int i = 0; i < repeats && total < 3; i++) {
        const auto start = std::chrono::steady_clock::now();
        conv2d(in, filter, {}, {}, out, {});
        device.synchronize();
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        best = std::min(best, time.count());
        total += time.count();
    }
    result.milliseconds = 1e3 * best;
    result.gflops = problem.operations() / best / 1e9;
    result.responses = out.to(Device::cpu());
    return result;
}

std::span<const float> values(const Tensor &tensor) {
    return {tensor.data<float>(), static_cast<size_t>(tensor.elements())};
}

double largest_difference(const Tensor &a, const Tensor &b) {
    double largest = 0;
    for (size_t i = 0; i < values(a).size(); i++) {
        const double difference = std::abs(double{values(a)[i]} - values(b)[i]);
        // A NaN is never smaller.
        largest = difference <= largest ? largest : difference;
    }
    return largest;
}

// Two sums of T products in any order, the magnitudes adding up to at most 1 (a filter's do, and
// the picture is in 0..1): each is off by at most T * 2^-24.
constexpr double agreement = 2.0 * (kernel_size * kernel_size * 3 + 1) / (1 << 24);

std::vector<Device> devices(const Arguments &arguments) {
    if (arguments.devices.empty()) {
        return Device::all();
    }
    std::vector<Device> result;
    for (const std::string &name : arguments.devices) {
        result.push_back(Device::parse(name));
        if (!result.back().available()) {
            throw DeviceError("device " + name + " is not available here");
        }
    }
    return result;
}

Image photo(const Arguments &arguments) {
    const Image image = read_image(arguments.image);
    const double share = std::min(
        1.0, static_cast<double>(arguments.max_size) / std::max(image.width, image.height));
    const auto scaled = [&](int size) {
        return std::max(1, static_cast<int>(std::lround(share * size)));
    };
    return resized(image, scaled(image.width), scaled(image.height));
}

int filter_photo(const Arguments &arguments) {
    const Image image = photo(arguments);
    std::printf("%s: %dx%d, %d filters of %dx%dx3\n", arguments.image.c_str(), image.width,
                image.height, filters, kernel_size, kernel_size);
    const Tensor input = tensor_of(image), weight = weight_tensor();

    std::vector<Run> runs;
    bool agree = true;
    for (const Device device : devices(arguments)) {
        runs.push_back(run(device, input, weight, arguments.repeats));
        const Run &last = runs.back();
        std::printf("%-9s %9.2f ms %8.1f GFLOP/s  %s  (%s)", device.name().c_str(),
                    last.milliseconds, last.gflops, last.kernel.c_str(),
                    device.description().c_str());
        if (runs.size() > 1) {
            const double difference = largest_difference(runs.front().responses, last.responses);
            const bool same = difference <= agreement;
            std::printf("\n          differs from %s by at most %.2g: %s",
                        runs.front().device.name().c_str(), difference,
                        same ? "they agree" : "THEY DISAGREE");
            agree = agree && same;
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    const std::string caption = std::to_string(filters) + " oriented filters of " +
                                std::to_string(kernel_size) + "x" + std::to_string(kernel_size) +
                                ", teal below zero, amber above";
    write_png(arguments.output, contact_sheet(image, values(runs.front().responses), caption));
    std::printf("wrote %s\n", arguments.output.c_str());
    return agree ? 0 : 1;
}

}  // namespace
}  // namespace hk::filter

int main(int argc, char **argv) {
    hk::filter::Arguments arguments;
    hk::program::Flags flags(
        "Runs a bank of oriented filters over a photograph on every device, checks that the "
        "devices agree, and writes the responses as a PNG contact sheet.");
    flags.add("--image", arguments.image, "A PNG or JPEG").show_default();
    flags.add("--output", arguments.output, "The PNG to write").show_default();
    flags.add("--device", arguments.devices,
              "cpu, cuda:0, opencl:0, ... (default: all that are here)");
    flags
        .add("--max-size", arguments.max_size,
             "Larger pictures are made smaller, to this many pixels on the longer side")
        .check(hk::program::range(16, 4096))
        .show_default();
    flags.add("--repeats", arguments.repeats, "Timed runs a device; the fastest counts")
        .check(hk::program::range(1, 1000))
        .show_default();
    return hk::program::run("filter", flags, argc, argv,
                            [&] { return hk::filter::filter_photo(arguments); });
}
