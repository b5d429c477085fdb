// Is the reference right: derivatives against differences, and steps against numbers worked out by
// hand from the formula of torch.optim.SGD.

#include "tests/elementwise/reference.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hk::reference {
namespace {

TEST(ElementwiseReference, DerivativesAreTheSlopes) {
    const ActivationOptions all[] = {{Activation::none},
                                     {Activation::relu},
                                     {Activation::clamp, -1, 2},
                                     {Activation::leaky_relu, 0.1f},
                                     {Activation::leaky_relu, -2},
                                     {Activation::silu},
                                     {Activation::gelu}};
    constexpr double kStep = 1e-5;
    for (const ActivationOptions &options : all) {
        for (double v = -8.05; v < 8; v += 0.1) {
            const double slope =
                (activate(v + kStep, options) - activate(v - kStep, options)) / (2 * kStep);
            EXPECT_NEAR(activation_derivative(v, options), slope, 1e-8)
                << name_of(options.activation) << " at " << v;
        }
    }
}

TEST(ElementwiseReference, Corners) {
    EXPECT_EQ(activation_derivative(0, {Activation::relu}), 0);
    EXPECT_EQ(activation_derivative(-1, {Activation::clamp, -1, 2}), 0);
    EXPECT_EQ(activation_derivative(2, {Activation::clamp, -1, 2}), 0);
    EXPECT_EQ(activation_derivative(0, {Activation::leaky_relu, 0.25f}), 0.25);
}

TEST(ElementwiseReference, StepsOfSgd) {
    // g = 3 + 0.5 * 2 = 4, velocity = 0.5 * 6 + 4 = 7.
    const SgdOptions plain{0.25f, 0, 0.5f}, heavy{0.25f, 0.5f, 0.5f};
    const SgdOptions ahead{0.25f, 0.5f, 0.5f, true};
    EXPECT_EQ(sgd_step(2, 6, 3, plain).parameter, 2 - 0.25 * 4);
    EXPECT_EQ(sgd_step(2, 6, 3, heavy).velocity, 7);
    EXPECT_EQ(sgd_step(2, 6, 3, heavy).parameter, 2 - 0.25 * 7);
    EXPECT_EQ(sgd_step(2, 6, 3, ahead).velocity, 7);
    EXPECT_EQ(sgd_step(2, 6, 3, ahead).parameter, 2 - 0.25 * (4 + 0.5 * 7));
}

}  // namespace
}  // namespace hk::reference
