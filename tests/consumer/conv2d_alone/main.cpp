// A program of another project, with conv2d of f32 for the CPU alone: other types and devices have
// no kernels, and are told so.

#include <cmath>
#include <cstdio>

#include "hk/conv2d.h"
#include "hk/error.h"

namespace {

// Whether 32 x 32 ones, filtered by ones, are 9 * 4.
bool filters(hk::DataType type, hk::Device device) {
    const hk::Tensor image({1, 32, 32, 4}, hk::DataType::f32);
    const hk::Tensor box({8, 3, 3, 4}, hk::DataType::f32);
    for (const hk::Tensor &tensor : {image, box})
        for (int64_t i = 0; i < tensor.elements(); i++) tensor.data<float>()[i] = 1;
    const hk::Tensor output = hk::conv2d(image.cast(type).to(device), box.cast(type).to(device));
    return std::abs(output.cast(hk::DataType::f32).to(hk::Device::cpu()).data<float>()[0] - 36) <
           1e-5;
}

template<typename Refusal>
bool refuses(hk::DataType type, hk::Device device) {
    try {
        filters(type, device);
    } catch (const Refusal &error) {
        std::printf("refused: %s\n", error.what());
        return true;
    }
    return false;
}

}  // namespace

int main() {
    if (!filters(hk::DataType::f32, hk::Device::cpu())) return 1;
    if (!refuses<hk::InvalidArgument>(hk::DataType::f16, hk::Device::cpu())) return 1;
    for (const hk::Device device : hk::Device::all())
        if (!device.is_cpu() && !refuses<hk::DeviceError>(hk::DataType::f32, device)) return 1;
    return 0;
}
