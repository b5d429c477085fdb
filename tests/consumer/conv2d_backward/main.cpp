// A program of another project: finds the filter that made one image of another, by gradient
// descent, on the CPU and on every other device that is there.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "../random.h"
#include "hk/conv2d.h"
#include "hk/conv2d_backward.h"
#include "hk/error.h"

namespace {

using hk::DataType, hk::Device, hk::Tensor;

const hk::Shape kImage = {1, 24, 24, 3}, kFilter = {4, 3, 3, 3};

// tensor -= rate * gradient, on the CPU.
void step(const Tensor &tensor, const Tensor &gradient, float rate) {
    const Tensor on_cpu = gradient.to(Device::cpu());
    for (int64_t i = 0; i < tensor.elements(); i++)
        tensor.data<float>()[i] -= rate * on_cpu.data<float>()[i];
}

// The largest error of the filter that 60 steps find.
float fit(Device device, const hk::Conv2dOptions &options) {
    const Tensor image = random(kImage, 1).to(device), secret = random(kFilter, 2);
    const Tensor target = hk::conv2d(image, secret.to(device), {}, {}, options).to(Device::cpu());
    const Tensor filter = Tensor::zeros(kFilter, DataType::f32);
    for (int i = 0; i < 60; i++) {
        const Tensor error =
            hk::conv2d(image, filter.to(device), {}, {}, options).to(Device::cpu());
        step(error, target, 1);
        const Tensor gradient =
            hk::conv2d_backward_weight(error.to(device), image, kFilter, options);
        step(filter, gradient, 1.0f / (24 * 24));
    }
    float worst = 0;
    for (int64_t i = 0; i < filter.elements(); i++)
        worst = std::max(worst, std::abs(filter.data<float>()[i] - secret.data<float>()[i]));
    return worst;
}

}  // namespace

int main() {
    hk::Conv2dOptions options;
    options.padding = {1, 1, 1, 1};
    for (const Device device : Device::all()) {
        const float worst = fit(device, options);
        std::printf("%s (%s): the filter is found within %g\n", device.name().c_str(),
                    device.description().c_str(), worst);
        if (!(worst < 1e-3f)) return 1;
    }
    try {
        const Tensor gradient = random({1, 24, 24, 5}, 3);
        hk::conv2d_backward_data(gradient, random(kFilter, 2), kImage, options);
    } catch (const hk::InvalidArgument &error) {
        std::printf("refused: %s\n", error.what());
        return 0;
    }
    return 1;
}
