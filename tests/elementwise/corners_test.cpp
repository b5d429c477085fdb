// Values of activations and their gradients at corners: bounds, NaNs, infinities, far from zero.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/elementwise/case.h"
#include "tests/kernels/family.h"
#include "tests/reference/elements.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

std::vector<Device> devices_with_activations() {
    return test::devices_with_rows({activate_kernels(), activate_backward_kernels()});
}

// `values`, activated.
std::vector<double> activated(const std::vector<double> &values, DataType type,
                              const ActivationOptions &options, Device device) {
    const Tensor input = host_tensor({std::ssize(values)}, type, values).to(device);
    activate(input, inplace(input), options);
    return reference::read(input.to(Device::cpu()));
}

TEST(Activate, ClampWithoutBoundsAndWithTheLowerAboveTheUpper) {
    for (const Device device : devices_with_activations()) {
        for (const DataType type : kElementwiseTypes) {
            const std::vector<double> values{-3, -0.5, 0, 2, 40};
            EXPECT_EQ(activated(values, type, {Activation::clamp}, device), values);
            EXPECT_EQ(activated(values, type, {Activation::clamp, 1}, device),
                      (std::vector<double>{1, 1, 1, 2, 40}));
            EXPECT_EQ(activated(values, type, {Activation::clamp, 6, 0.5f}, device),
                      std::vector<double>(5, 0.5));
        }
    }
}

TEST(Activate, PassesNaNAndInfinities) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const Device device : devices_with_activations()) {
        for (const DataType type : kElementwiseTypes) {
            for (const ActivationOptions &options : tested_activations()) {
                const auto got = activated({NAN, kInfinity}, type, options, device);
                EXPECT_TRUE(std::isnan(got[0])) << name_of(options.activation);
                const double top = options.activation == Activation::clamp
                                       ? reference::rounded(type, options.beta)
                                       : kInfinity;
                EXPECT_EQ(got[1], top) << name_of(options.activation);
            }
        }
    }
}

// Where e^-v is no number of f32, the activation is v or next to 0, and its derivative 1 or that.
TEST(Activate, IsSmoothFarFromZero) {
    std::vector<double> values;
    for (const double v : {86., 87., 87.5, 88., 88.5, 89., 100., 1000., 1e19, 3e38})
        values.insert(values.end(), {v, -v});
    const std::vector<double> ones(values.size(), 1);
    for (const Device device : devices_with_activations()) {
        for (const Activation activation : {Activation::silu, Activation::gelu}) {
            const Tensor v = host_tensor({std::ssize(values)}, DataType::f32, values).to(device);
            const Tensor g = host_tensor({std::ssize(values)}, DataType::f32, ones).to(device);
            activate_backward(g, v, inplace(g), {activation});
            const auto slopes = reference::read(g.to(Device::cpu()));
            const auto got = activated(values, DataType::f32, {activation}, device);
            for (size_t i = 0; i < values.size(); i++) {
                const double top = std::max(values[i], 0.);
                const std::string what =
                    std::string(name_of(activation)) + " of " + std::to_string(values[i]);
                EXPECT_NEAR(got[i], top, 0x1p-117 + 0x1p-19 * top) << what;
                EXPECT_NEAR(slopes[i], top > 0, 0x1p-117 + (top > 0) * 0x1p-19) << what;
            }
        }
    }
}

// Of the four, from input and output; of an infinite activation too, and of a NaN none gets lost.
TEST(ActivateBackward, Corners) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr float kInf = std::numeric_limits<float>::infinity();
    struct Corner {
        ActivationOptions options;
        std::vector<double> saved, wanted;
    };
    const Corner corners[] = {
        {{Activation::none}, {-kInfinity, 0, kInfinity}, {4, 4, 4}},
        {{Activation::relu}, {-kInfinity, -1, -0.0, 0, 1e-3, kInfinity}, {0, 0, 0, 0, 4, 4}},
        {{Activation::clamp, -1, 2}, {-kInfinity, -1, -0.9, 1.9, 2, kInfinity}, {0, 0, 4, 4, 0, 0}},
        {{Activation::clamp}, {-kInfinity, -1, 0, 1, kInfinity}, {4, 4, 4, 4, 4}},
        {{Activation::clamp, 2}, {-kInfinity, 2, 2.5, kInfinity}, {0, 0, 4, 4}},
        {{Activation::clamp, 2, -1}, {-2, -1, 0, 2, 3}, {0, 0, 0, 0, 0}},
        {{Activation::clamp, kInf, 1}, {-2, 1, kInfinity}, {0, 0, 0}},
        {{Activation::clamp, 1, -kInf}, {-kInfinity, 0, 2}, {0, 0, 0}},
        {{Activation::clamp, kInf, kInf}, {-2, 0, kInfinity}, {0, 0, 0}},
        {{Activation::leaky_relu, 0.25f}, {-kInfinity, -1, 0, 1, kInfinity}, {1, 1, 1, 4, 4}}};
    for (const Device device : devices_with_activations()) {
        for (const DataType type : kElementwiseTypes) {
            for (const auto &[options, saved, wanted] : corners) {
                const Shape shape{std::ssize(saved)};
                const std::vector<double> fours(saved.size(), 4);
                const Tensor g = host_tensor(shape, type, fours).to(device);
                const Tensor v = host_tensor(shape, type, saved).to(device);
                activate_backward(g, v, inplace(g), options);
                EXPECT_EQ(reference::read(g.to(Device::cpu())), wanted)
                    << name_of(options.activation);
            }
        }
    }
}

// A gradient that is not finite does not get past a derivative of 0, as in PyTorch.
TEST(ActivateBackward, StopsWhatIsNotFinite) {
    for (const Device device : devices_with_activations()) {
        const Tensor g =
            host_tensor({2}, DataType::f32, {NAN, std::numeric_limits<double>::infinity()})
                .to(device);
        const Tensor v = host_tensor({2}, DataType::f32, {-1, -1}).to(device);
        activate_backward(g, v, inplace(g), {Activation::relu});
        EXPECT_EQ(reference::read(g.to(Device::cpu())), (std::vector<double>{0, 0}));
    }
}

TEST(ActivateBackward, OfNoneNeedsNothingSaved) {
    for (const Device device : devices_with_activations()) {
        const std::vector<double> values{1, -2, 3};
        const Tensor g = host_tensor({3}, DataType::bf16, values).to(device);
        const Tensor result({3}, DataType::bf16, device);
        activate_backward(g, {}, result, {Activation::none});
        EXPECT_EQ(reference::read(result.to(Device::cpu())), values);
    }
}

}  // namespace
}  // namespace hk::test
