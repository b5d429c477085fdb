// Are the reference's gradients those of the reference's convolution? With the loss
// sum of output_gradient * conv2d(input, weight, bias), which is linear in each operand, central
// differences are exact but for rounding.

#include "tests/conv2d_backward/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "tests/convolution/random_problem.h"
#include "tests/support/values.h"

namespace hk::test {
namespace {

struct Operands {
    std::vector<double> output_gradient, input, weight, bias;
};

double loss(const Conv2dProblem &p, const Operands &o) {
    const std::vector<double> output = reference::conv2d_sums(p, o.input, o.weight).value;
    double sum = 0;
    for (size_t i = 0; i < output.size(); i++) {
        sum += o.output_gradient[i] * (output[i] + o.bias[i % o.bias.size()]);
    }
    return sum;
}

// Compares a gradient at some places with differences of the loss.
void expect_gradient(const char *name, const Conv2dProblem &p, Operands &o, Random &random,
                     std::vector<double> Operands::*operand,
                     const reference::Conv2dResult &gradient) {
    std::vector<double> &values = o.*operand;
    ASSERT_EQ(gradient.value.size(), values.size()) << name;
    constexpr double step = 0.5;
    for (int i = 0; i < 12; i++) {
        const auto place =
            static_cast<size_t>(uniform(random, 0, static_cast<int64_t>(values.size()) - 1));
        const double value = values[place];
        values[place] = value + step;
        const double above = loss(p, o);
        values[place] = value - step;
        const double below = loss(p, o);
        values[place] = value;
        EXPECT_NEAR(gradient.value[place], (above - below) / (2 * step), 1e-8)
            << name << " at " << place << ", " << to_string(p);
    }
}

TEST(Conv2dBackwardReference, IsTheGradient) {
    for (const uint64_t seed : seeds(60)) {
        Random random(seed);
        const auto p = random_problem(random, {.operations = 2e4});
        if (!p) continue;
        Operands o{.output_gradient = reals(random, p->output_shape()),
                   .input = reals(random, input_shape(*p)),
                   .weight = reals(random, weight_shape(*p)),
                   .bias = reals(random, {p->filters})};
        expect_gradient("input", *p, o, random, &Operands::input,
                        reference::conv2d_backward_data(*p, o.output_gradient, o.weight));
        expect_gradient("weight", *p, o, random, &Operands::weight,
                        reference::conv2d_backward_weight(*p, o.output_gradient, o.input));
        expect_gradient("bias", *p, o, random, &Operands::bias,
                        reference::conv2d_backward_bias(*p, o.output_gradient));
        if (HasFailure()) {
            ADD_FAILURE() << "repeat  " << repeat_command(seed);
            return;
        }
    }
}

TEST(Conv2dBackwardReference, AddsWhatWasThere) {
    reference::Conv2dResult result{{1, -2}, {3, 4}, 5};
    reference::accumulate(result, {10, -20}, -0.5);
    EXPECT_EQ(result.value, (std::vector<double>{-4, 8}));
    EXPECT_EQ(result.magnitude, (std::vector<double>{8, 14}));
    EXPECT_EQ(result.terms, 6);
}

}  // namespace
}  // namespace hk::test
