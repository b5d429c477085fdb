// A program of another project, with activations of f32 for the CPU alone: other types and devices
// have no kernels, and are told so.

#include <cstdio>

#include "hk/activation.h"
#include "hk/error.h"

namespace {

// Whether the rectified -1 and 2 are 0 and 2.
bool rectifies(hk::DataType type, hk::Device device) {
    const hk::Tensor values({2}, hk::DataType::f32);
    values.data<float>()[0] = -1;
    values.data<float>()[1] = 2;
    const hk::Tensor output({2}, type, device);
    hk::activate(values.cast(type).to(device), output, {.activation = hk::Activation::relu});
    const hk::Tensor result = output.cast(hk::DataType::f32).to(hk::Device::cpu());
    return result.data<float>()[0] == 0 && result.data<float>()[1] == 2;
}

template<typename Refusal>
bool refuses(hk::DataType type, hk::Device device) {
    try {
        rectifies(type, device);
    } catch (const Refusal &error) {
        std::printf("refused: %s\n", error.what());
        return true;
    }
    return false;
}

}  // namespace

int main() {
    if (!rectifies(hk::DataType::f32, hk::Device::cpu())) return 1;
    if (!refuses<hk::InvalidArgument>(hk::DataType::f16, hk::Device::cpu())) return 1;
    for (const hk::Device device : hk::Device::all())
        if (!device.is_cpu() && !refuses<hk::DeviceError>(hk::DataType::f32, device)) return 1;
    return 0;
}
