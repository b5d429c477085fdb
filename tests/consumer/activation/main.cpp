// A program of another project: finds the arguments of an activation from its values by gradient
// descent, on the CPU and on every other device that is there. All arithmetic is the library's.

#include <cmath>
#include <cstdio>

#include "../random.h"
#include "hk/activation.h"
#include "hk/error.h"
#include "hk/sgd.h"

namespace {

using hk::DataType, hk::Device, hk::Tensor;

// The largest error of the arguments that were found.
double error_on(Device device, const hk::ActivationOptions &f) {
    const Tensor wanted = random({1000}, 1), values = wanted.to(device);
    hk::activate(values, hk::inplace(values), f);
    const Tensor arguments = Tensor::zeros({1000}, DataType::f32, device);
    const Tensor velocity = Tensor::zeros({1000}, DataType::f32, device);
    const Tensor difference({1000}, DataType::f32, device);
    for (int step = 0; step < 300; step++) {
        hk::activate(arguments, difference, f);
        hk::sgd_step(difference, {}, values, {.learning_rate = 1});  // difference -= values
        hk::activate_backward(difference, arguments, hk::inplace(difference), f);
        hk::sgd_step(arguments, velocity, difference, {.learning_rate = 0.5f, .momentum = 0.5f});
    }
    const Tensor found = arguments.to(Device::cpu());
    double error = 0;
    for (int64_t i = 0; i < found.elements(); i++) {
        error = std::fmax(error, std::fabs(found.data<float>()[i] - wanted.data<float>()[i]));
    }
    return error;
}

}  // namespace

int main() {
    for (const Device device : Device::all()) {
        const double error = error_on(device, {hk::Activation::leaky_relu, 0.25f});
        std::printf("%s (%s): within %g\n", device.name().c_str(), device.description().c_str(),
                    error);
        if (!(error < 1e-3)) return 1;
    }
    try {
        hk::activate({}, Tensor({4}, DataType::f32));
    } catch (const hk::InvalidArgument &error) {
        std::printf("refused: %s\n", error.what());
        return 0;
    }
    return 1;
}
