// A program of another project: a box filter, on the CPU and on every other device that is there.

#include <cmath>
#include <cstdio>

#include "hk/conv2d.h"
#include "hk/error.h"

int main() {
    const hk::Tensor image({1, 32, 32, 4}, hk::DataType::f32);
    for (int64_t i = 0; i < image.elements(); i++)
        image.data<float>()[i] = static_cast<float>(i % 7);
    const hk::Tensor box({8, 3, 3, 4}, hk::DataType::f32);
    for (int64_t i = 0; i < box.elements(); i++) box.data<float>()[i] = 1.0f / 36;

    const hk::Tensor expected = hk::conv2d(image, box);
    double sum = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            for (int c = 0; c < 4; c++) sum += image.data<float>()[(y * 32 + x) * 4 + c];
    if (std::abs(expected.data<float>()[0] - sum / 36) > 1e-5) {
        std::printf("cpu: %f, not %f\n", expected.data<float>()[0], sum / 36);
        return 1;
    }
    for (const hk::Device device : hk::Device::all()) {
        const hk::Tensor output =
            hk::conv2d(image.to(device), box.to(device)).to(hk::Device::cpu());
        double worst = 0;
        for (int64_t i = 0; i < output.elements(); i++) {
            worst = std::fmax(worst, std::abs(output.data<float>()[i] - expected.data<float>()[i]));
        }
        std::printf("%s (%s): largest difference %g\n", device.name().c_str(),
                    device.description().c_str(), worst);
        if (!(worst < 1e-5)) return 1;
    }
    try {
        hk::conv2d(image, hk::Tensor({8, 3, 3, 5}, hk::DataType::f32));
    } catch (const hk::InvalidArgument &error) {
        std::printf("refused: %s\n", error.what());
        return 0;
    }
    return 1;
}
